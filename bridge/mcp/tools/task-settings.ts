/** The settings of a task, as far as its agent can be told them. */
import type { TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import type { Agent } from '../../agents/agent.ts';
import { isLoopback } from '../../../shared/net/loopback.ts';

/** What the call wants, with the default workspace where the agent shares this machine's files. @throws ProductError */
export async function taskSettingsFor(
  agent: Agent,
  wanted: TaskSettings,
  workspace: string,
): Promise<TaskSettings> {
  if (wanted.workspace !== undefined) return asAgentSays(agent, wanted);
  const mapped = agent.workspaceFor(workspace);
  if (mapped !== undefined) return { ...wanted, workspace: mapped };
  const { url } = await agent.connect();
  return isLoopback(new URL(url).hostname) ? { ...wanted, workspace } : wanted;
}

/** What the call wants, with the workspace by the agent's name for it. */
export function asAgentSays(agent: Agent, wanted: TaskSettings): TaskSettings {
  const mapped = wanted.workspace === undefined ? undefined : agent.workspaceFor(wanted.workspace);
  return mapped === undefined ? wanted : { ...wanted, workspace: mapped };
}

/**
 * With the tier that is meant where no model is named, for an agent that can be told one: a consultation is worth the
 * `smart` one, work is begun with the `fast` one. @throws ProductError
 */
export async function withTier(
  agent: Agent,
  wanted: TaskSettings,
  tier: 'fast' | 'smart',
): Promise<TaskSettings> {
  if (wanted.model !== undefined) return wanted;
  const { dialect } = await agent.connect();
  return dialect.ignores.includes('model') ? wanted : { ...wanted, model: tier };
}

/** A note for the person about the settings they gave that the agent has no ear for. */
export async function unheard(agent: Agent, wanted: TaskSettings): Promise<readonly string[]> {
  const { dialect } = await agent.connect();
  const lost = dialect.ignores.filter((key) => wanted[key] !== undefined);
  return lost.length === 0
    ? []
    : [
        `Agent "${agent.name}" does not know the tool-approval extension, so it was not told: ${lost.join(', ')}.`,
      ];
}
