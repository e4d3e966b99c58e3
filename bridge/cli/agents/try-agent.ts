/** Tries an agent before it is added to the settings. */
import { isOnThisMachine } from '../../../shared/net/this-machine.ts';
import { agentNameSchema, agentSettingsSchema, type BridgeSettings } from '../../settings/settings.ts';
import { agentNameHolderText, createConfiguredAgent } from '../../startup/configured-agents.ts';
import type { CommandRun, CommonCommandOptions } from '../context/run-command.ts';
import { splitCommandLine } from '../models/edit-model-settings.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { type AgentEntry, suggestAgentName } from './agent-entry.ts';
import { type AgentInspection, inspectAgent } from './inspect-agent.ts';
import { inputProblem, zodIssuesText } from '../../../shared/text/input-problem.ts';

export interface WantedAgent {
  url: string;
  /** The name in the settings. If absent, the name on the card is used. */
  name?: string | undefined;
  cardUrl?: string | undefined;
  tokenVariable?: string | undefined;
  tokenCommand?: string | undefined;
  /** True if the card must not name an endpoint on this machine, because another machine named the agent. */
  isElsewhere?: boolean;
}

export interface TriedAgent extends AgentInspection {
  name: string;
  entry: AgentEntry;
}

/**
 * Connects to the agent and checks it. Writes nothing.
 * @throws UsageError, also if another agent has the name; ProductError, e.g. AGENT_UNREACHABLE
 */
export async function tryAgent(
  { settings, env }: Pick<CommandRun<CommonCommandOptions>, 'settings' | 'env'>,
  wanted: WantedAgent,
): Promise<TriedAgent> {
  const entry = entryOf(wanted);
  const { url } = entry;
  const agent = createConfiguredAgent(
    wanted.name ?? new URL(url).host,
    agentSettingsSchema.parse(entry),
    env,
  );
  const { facts } = await agent.connect();
  const name = wanted.name ?? suggestAgentName(facts.name, url);
  refuseTakenName(settings, name, url);
  if (wanted.isElsewhere === true && facts.interfaces.some((each) => isOnThisMachine(each.url)))
    throw new UsageError(
      `The card names an endpoint on this machine. If that is right: mcp-a2a-bridge agents add ${url}`,
    );
  return { name, entry, ...(await inspectAgent(agent)) };
}

function refuseTakenName(settings: BridgeSettings, name: string, url: string): void {
  const holder = agentNameHolderText(settings, name, url);
  if (holder !== undefined)
    throw new UsageError(
      `There is ${holder}. Choose another name: mcp-a2a-bridge agents add ${url} --name <name>`,
    );
}

/** Builds the entry for the settings. @throws UsageError */
function entryOf({ url, name, cardUrl, tokenVariable, tokenCommand }: WantedAgent): AgentEntry {
  if (tokenVariable !== undefined && tokenCommand !== undefined)
    throw new UsageError('Name a variable or a command for the token, not both.');
  if (name !== undefined && !agentNameSchema.safeParse(name).success)
    throw new UsageError('A name has up to 100 letters, digits, ".", "_" and "-".');
  const entry = {
    url,
    ...(cardUrl !== undefined && { cardUrl }),
    ...(tokenVariable !== undefined && { tokenEnv: tokenVariable }),
    ...(tokenCommand !== undefined && { tokenCommand: splitCommandLine(tokenCommand, '--token-command') }),
  };
  const parsed = agentSettingsSchema.safeParse(entry, { error: inputProblem });
  if (parsed.success) return entry;
  throw new UsageError(`This agent cannot be added: ${zodIssuesText(parsed.error)}.`);
}
