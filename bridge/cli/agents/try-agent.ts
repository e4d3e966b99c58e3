/** Tries an agent before it is added to the settings. */
import { isOnThisMachine } from '../../agents/http/this-machine.ts';
import { agentNameSchema, type BridgeSettings } from '../../settings/settings.ts';
import { agentNameHolderText, createConfiguredAgent } from '../../startup/configured-agents.ts';
import type { CommandRun } from '../context/run-command.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { type AgentEntry, suggestAgentName } from './agent-entry.ts';
import { type AgentInspection, inspectAgent } from './inspect-agent.ts';
import { readAgentOptions, type AgentOptions } from './agent-options.ts';

export interface WantedAgent extends AgentOptions {
  /** The name in the settings. If absent, the name on the card is used. */
  name?: string | undefined;
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
  { settings, env }: Pick<CommandRun, 'settings' | 'env'>,
  wanted: WantedAgent,
): Promise<TriedAgent> {
  const { url } = wanted;
  const { entry, settings: own } = readAgentOptions(wanted, 'added');
  if (wanted.name !== undefined && !agentNameSchema.safeParse(wanted.name).success)
    throw new UsageError('A name has up to 100 letters, digits, ".", "_" and "-".');
  const agent = createConfiguredAgent(wanted.name ?? new URL(url).host, own, env);
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
