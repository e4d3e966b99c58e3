import type { Attachments } from '../../sessions/attached-files.ts';
import type { ToolCallContext } from '../tool/tool.ts';
import { allowedCallWorkspaces } from './tool-call-workspaces.ts';

/** Reads the files that a tool call attaches. @throws ProductError if a file cannot be sent. Nothing is sent then. */
export async function readToolCallAttachments(
  call: ToolCallContext,
  { files = [], directory }: { files?: readonly string[] | undefined; directory: string | undefined },
): Promise<Attachments> {
  if (files.length === 0) return {};
  const { bridge, client, signal } = call;
  const workspaces = await allowedCallWorkspaces(call);
  const { toAttachments, readAttachedFiles } = await import('../../sessions/attached-files.ts');
  const read = await readAttachedFiles(files, {
    directory: directory ?? workspaces.own,
    workspaces,
    stateDirectory: bridge.stateDirectory,
    roots: () => client.roots(signal),
  });
  return toAttachments(read);
}
