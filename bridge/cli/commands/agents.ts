/** The command `agents`: lists, checks, adds and removes the agents in the bridge's configuration file. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { LOCAL_AGENT } from '../../settings/agent-settings.ts';
import { findAgentSettings, createAgentRegistry } from '../../startup/configured-agents.ts';
import { addAgentsToConfigText, removeAgentFromConfigText } from '../agents/agent-entry.ts';
import { inspectAgent, hasFailedCheck, printInspection } from '../agents/inspect-agent.ts';
import { tryAgent, type WantedAgent } from '../agents/try-agent.ts';
import { firstAgentNote, writeAgents } from '../agents/write-agents.ts';
import type { WriteOptions } from '../clients/plan-entry-change.ts';
import type { CommandRun } from '../context/run-command.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import { formatTable } from '../terminal/table.ts';

type AddAgentOptions = WriteOptions & Omit<WantedAgent, 'url'>;

const NEEDS_TOKEN =
  ' If the agent needs a token, name where it is: --token-variable <name>, or --token-command <command>.';

/** Prints the configured agents. Sends no request to them. */
export async function listAgentsCommand({ settings, terminal, env, places }: CommandRun): Promise<void> {
  const registry = createAgentRegistry({ ...settings, autoStart: false }, env, places.serverScript);
  const agents = registry.all.map(({ name }, index) => ({
    name,
    url:
      findAgentSettings(settings, name)?.url ?? (name === LOCAL_AGENT ? null : (settings.agentUrl ?? null)),
    isDefault: index === 0,
  }));
  terminal.json({ agents });
  const rows = agents.map(({ name, url, isDefault }) => [
    { text: isDefault ? `${name} (default)` : name },
    { text: url ?? 'the server on this machine, which the bridge starts' },
  ]);
  terminal.say(formatTable([{ title: 'AGENT' }, { title: 'URL' }], rows, terminal.width));
}

/**
 * Checks the agents, and prints what each of them can do.
 * @param name the agent to check; undefined for all agents
 * @returns EXIT_FAILURE if a check fails
 * @throws ProductError UNKNOWN_AGENT
 */
export async function checkAgentsCommand(run: CommandRun, name?: string): Promise<number> {
  const { settings, terminal, env, places } = run;
  const registry = createAgentRegistry({ ...settings, autoStart: false }, env, places.serverScript);
  const agents = name === undefined ? registry.all : [registry.pick(name)];
  const checked = await Promise.all(
    agents.map(async (agent) => ({ agent: agent.name, ...(await inspectAgent(agent)) })),
  );
  terminal.json({ agents: checked });
  for (const each of checked) printInspection(terminal, each.agent, each);
  return checked.some(({ findings }) => hasFailedCheck(findings)) ? EXIT_FAILURE : 0;
}

/**
 * Connects to an agent, shows what it can do, and adds it to the configuration file.
 * @throws UsageError, or ProductError, e.g. AGENT_UNREACHABLE. In both cases, nothing was written.
 */
export async function addAgentCommand(run: CommandRun<AddAgentOptions>, url: string): Promise<number> {
  const { options, settings, terminal } = run;
  const { name, entry, findings, abilities } = await tryAgent(run, { ...options, url });
  printInspection(terminal, name, { findings, abilities });
  if (hasFailedCheck(findings)) {
    terminal.json({ agent: name, findings, abilities, changed: false });
    terminal.explain(`Nothing was written.${(entry.tokenEnv ?? entry.tokenCommand) ? '' : NEEDS_TOKEN}`);
    return EXIT_FAILURE;
  }
  return writeAgents(run, {
    facts: { agent: name, abilities, findings },
    decide: (text) => addAgentsToConfigText(text, [{ name, entry }]),
    after: firstAgentNote(settings, name) ?? `Name it to delegate to it: agent "${name}".`,
  });
}

/**
 * Removes an agent from the configuration file.
 * @throws ProductError CONFIGURATION; UNKNOWN_AGENT if the file does not contain the agent
 */
export async function removeAgentCommand(run: CommandRun<WriteOptions>, name: string): Promise<number> {
  const { settings } = run;
  if (findAgentSettings(settings, name) === undefined) {
    const names = Object.keys(settings.agents).join(', ');
    throw new ProductError(
      'UNKNOWN_AGENT',
      `The configuration file has no agent "${visibleLine(name)}". ${names === '' ? 'It has no agents.' : `It has: ${names}.`}`,
    );
  }
  return writeAgents(run, {
    facts: { agent: name },
    decide: (text) => removeAgentFromConfigText(text, name),
    after: 'Its tasks go on. Its sessions are not listed here any more.',
  });
}
