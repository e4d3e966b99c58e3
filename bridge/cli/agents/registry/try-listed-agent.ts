/** Tries an agent of a registry, without credentials. The checks are those of `agents add`. */
import { isOnThisMachine } from '../../../agents/http/this-machine.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import type { BridgeSettings } from '../../../settings/settings.ts';
import type { CommandRun } from '../../context/run-command.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { inTerminalWords } from '../../terminal/terminal-words.ts';
import { hasFailedCheck, printInspection } from '../inspect-agent.ts';
import { type TriedAgent, tryAgent } from '../try-agent.ts';
import type { ParsedAgentList } from './agent-list.ts';

/**
 * The result of a trial. `known`: the settings already contain an agent at this URL. Its entry stays, because it may
 * name a token.
 */
export type AgentTrial =
  | ({ type: 'usable' } & TriedAgent)
  | ({ type: 'refused' } & TriedAgent)
  | { type: 'known'; name: string; url: string }
  | { type: 'failed'; name: string; url: string; problem: string };

/** Tries one agent. @param isRemote true if the list comes from another machine */
export async function tryListedAgent(
  run: Pick<CommandRun, 'settings' | 'env'>,
  { name, url, cardUrl }: ParsedAgentList['agents'][number],
  isRemote: boolean,
): Promise<AgentTrial> {
  const known = nameAt(run.settings, url);
  if (known !== undefined) return { type: 'known', name: known, url };
  const failed = (problem: string): AgentTrial => ({ type: 'failed', name, url, problem });
  // A list from another machine must not direct requests to services on this machine.
  if (isRemote && [url, cardUrl ?? url].some(isOnThisMachine))
    return failed(
      `A registry on another machine cannot name an agent on this machine. If the URL is right: mcp-a2a-bridge agents add ${url}`,
    );
  try {
    const tried = await tryAgent(run, { name, url, cardUrl, isElsewhere: isRemote });
    return { type: hasFailedCheck(tried.findings) ? 'refused' : 'usable', ...tried };
  } catch (error) {
    return failed(inTerminalWords(errorMessageOf(error)));
  }
}

/** Returns the name of the configured agent with this URL. Returns undefined if there is none. */
function nameAt({ agents }: BridgeSettings, url: string): string | undefined {
  const { href } = new URL(url);
  return Object.entries(agents).find(([, agent]) => new URL(agent.url).href === href)?.[0];
}

export function printAgentTrial(terminal: Terminal, trial: AgentTrial): void {
  if (trial.type === 'usable' || trial.type === 'refused')
    return printInspection(terminal, trial.name, trial);
  terminal.say(terminal.paint('bold', trial.name));
  terminal.explain(
    trial.type === 'known'
      ? `✓ The settings have it already, at ${trial.url}.`
      : `✗ ${visibleLine(trial.problem)}`,
  );
}

/** Returns what `--json` prints about an agent. */
export function trialFacts(trial: AgentTrial): object {
  const { type: outcome, ...facts } = trial;
  if (!('entry' in facts)) return { outcome, ...facts };
  const { entry, ...rest } = facts;
  return { outcome, url: entry.url, ...rest };
}
