/**
 * Finds the workspace of a tool call. With `--workspace-from-roots`, the workspace is the first MCP root of the client.
 * Some clients start the bridge in a directory that has nothing to do with the person's work.
 */
import { parse } from 'node:path';
import type { AllowedCallWorkspaces } from '../../agents/check-workspace.ts';
import type { ToolCallContext } from '../tool/tool.ts';

type WorkspaceContext = Pick<ToolCallContext, 'bridge' | 'client' | 'signal'>;

/**
 * Returns the workspace of a task that names none. With `--workspace-from-roots`, returns undefined if the client has
 * no folder open.
 */
export async function defaultWorkspace({
  bridge,
  client,
  signal,
}: WorkspaceContext): Promise<string | undefined> {
  return bridge.workspaces.fromRoots ? (await client.roots(signal))[0] : bridge.defaults.workspace;
}

/** Returns the directories that the tool call may name without a person's permission. */
export async function allowedCallWorkspaces(call: WorkspaceContext): Promise<AllowedCallWorkspaces> {
  const { own, listed } = call.bridge.workspaces;
  // If the client has no folder open, `own` is the root of the file system, which allows nothing (`checkWorkspace`).
  return { own: (await defaultWorkspace(call)) ?? parse(own).root, listed };
}
