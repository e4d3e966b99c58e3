/** Adapts the settings of a task to its agent. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import type { Agent } from '../../agents/agent.ts';
import { isLoopback } from '../../../shared/net/loopback.ts';

/**
 * Converts the workspace to the agent's path. If the task has no workspace, adds the default workspace. Adds none if
 * the agent is on another machine and the settings do not map that directory.
 * @param workspace the default workspace; undefined if the client has no folder open
 * @throws ProductError, also if a task on this machine would have no workspace
 */
export async function withDefaultWorkspace(
  agent: Agent,
  wanted: TaskSettings,
  workspace: string | undefined,
): Promise<TaskSettings> {
  if (wanted.workspace !== undefined) return withMappedWorkspace(agent, wanted);
  const mapped = workspace === undefined ? undefined : agent.workspaceFor(workspace);
  if (mapped !== undefined) return { ...wanted, workspace: mapped };
  const { url } = await agent.connect();
  if (!isLoopback(new URL(url).hostname)) return wanted;
  if (workspace !== undefined) return { ...wanted, workspace };
  throw new ProductError(
    'CONFIGURATION',
    'The client has no folder open, so the task has no workspace. Nothing was sent. Open a folder in the client, or name the workspace in the call.',
  );
}

/** Replaces the workspace with the path that the agent uses for it. */
export function withMappedWorkspace(agent: Agent, wanted: TaskSettings): TaskSettings {
  const mapped = wanted.workspace === undefined ? undefined : agent.workspaceFor(wanted.workspace);
  return mapped === undefined ? wanted : { ...wanted, workspace: mapped };
}

/**
 * Adds a default model tier, if the tool call names no model and the agent accepts a tier: `smart` for a consultation,
 * `fast` for a task.
 * @throws ProductError
 */
export async function withDefaultTier(
  agent: Agent,
  wanted: TaskSettings,
  tier: 'fast' | 'smart',
): Promise<TaskSettings> {
  if (wanted.model !== undefined) return wanted;
  const { dialect } = await agent.connect();
  return dialect.ignores.includes('model') ? wanted : { ...wanted, model: tier };
}

/** Returns a note for the person about settings that the agent does not support. */
export async function unsupportedSettingsNotes(
  agent: Agent,
  wanted: TaskSettings,
): Promise<readonly string[]> {
  const { dialect } = await agent.connect();
  const lost = dialect.ignores.filter((key) => wanted[key] !== undefined);
  return lost.length === 0
    ? []
    : [
        `Agent "${agent.name}" does not know the tool-approval extension, so it was not told: ${lost.join(', ')}.`,
      ];
}
