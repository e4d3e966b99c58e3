/** `agents`: lists, checks, adds and removes the agents of the bridge's configuration file. */
import { join } from 'node:path';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { CheckResult } from '../../../shared/runtime/check-result.ts';
import { issuesText } from '../../../shared/settings/resolve-settings.ts';
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import { visibleLine, visibleText } from '../../../shared/text/visible-text.ts';
import { type AgentAbilities, agentAbilities } from '../../agents/abilities.ts';
import type { Agent } from '../../agents/agent.ts';
import { LOCAL_AGENT } from '../../settings/agent-settings.ts';
import {
  agentName,
  type AgentSettings,
  agentSettings,
  type BridgeSettings,
} from '../../settings/settings.ts';
import { configuredAgents, listedAgent } from '../../startup/configured-agents.ts';
import { abilitiesText } from '../agents/abilities-text.ts';
import { type AgentEntry, nameFrom, withAgent, withoutAgent } from '../agents/agent-entry.ts';
import { writeConfig } from '../clients/config-file.ts';
import type { ConfigChange } from '../clients/config-text.ts';
import { planEntryChange } from '../clients/entry-change.ts';
import type { CommonOptions, CommandRun } from '../context/run-command.ts';
import { checkAgent } from '../doctor/check-agent.ts';
import { commandWords } from '../models/edit-model-settings.ts';
import { EXIT_FAILURE, UsageError } from '../terminal/exit-codes.ts';
import { paintDiff } from '../terminal/paint.ts';
import { table } from '../terminal/table.ts';

interface WriteOptions extends CommonOptions {
  dryRun?: boolean;
  yes?: boolean;
}

export interface AddOptions extends WriteOptions {
  name?: string;
  cardUrl?: string;
  tokenVariable?: string;
  tokenCommand?: string;
}

const MODE = 0o600;
const NEEDS_TOKEN =
  ' If the agent needs a token, name where it is: --token-variable <name>, or --token-command <command>.';

/** Prints the configured agents. Asks none of them. */
export function listAgents({ options, settings, terminal, env, places }: CommandRun<CommonOptions>): void {
  const registry = configuredAgents({ ...settings, autoStart: false }, env, places.serverScript);
  const agents = registry.all.map(({ name }, index) => ({
    name,
    url: configured(settings, name)?.url ?? (name === LOCAL_AGENT ? null : (settings.agentUrl ?? null)),
    isDefault: index === 0,
  }));
  if (options.json === true) return terminal.say(JSON.stringify({ agents }));
  const rows = agents.map(({ name, url, isDefault }) => [
    { text: isDefault ? `${name} (default)` : name },
    { text: url ?? 'the server on this machine, which the bridge starts' },
  ]);
  terminal.say(table([{ title: 'AGENT' }, { title: 'URL' }], rows, terminal.width));
}

/**
 * Checks agents, and prints what each can do.
 * @param name one agent; undefined for all
 * @returns EXIT_FAILURE if a check fails
 * @throws ProductError UNKNOWN_AGENT
 */
export async function checkAgents(run: CommandRun<CommonOptions>, name?: string): Promise<number> {
  const { options, settings, terminal, env, places } = run;
  const registry = configuredAgents({ ...settings, autoStart: false }, env, places.serverScript);
  const agents = name === undefined ? registry.all : [registry.pick(name)];
  const checked = await Promise.all(agents.map((agent) => checkOne(agent)));
  if (options.json === true)
    terminal.say(
      JSON.stringify({ agents: checked.map(({ agent, ...rest }) => ({ agent: agent.name, ...rest })) }),
    );
  else for (const each of checked) tell(run, each);
  return checked.some(({ findings }) => hasFailed(findings)) ? EXIT_FAILURE : 0;
}

/**
 * Tries an agent, shows what it can do, and adds it to the configuration file.
 * @throws UsageError; ProductError, e.g. AGENT_UNREACHABLE. Then nothing was written.
 */
export async function addAgent(run: CommandRun<AddOptions>, url: string): Promise<number> {
  const { options, settings, terminal, env } = run;
  const entry = entryOf(url, options);
  const agent = listedAgent(options.name ?? new URL(url).host, agentSettings.parse(entry), env);
  const { facts } = await agent.connect();
  const checked = await checkOne(agent);
  const name = options.name ?? nameFrom(facts.name, url);
  const named = { ...checked, agent: { name } };
  const known = configured(settings, name);
  if (known !== undefined && known.url !== entry.url)
    throw new UsageError(`There is an agent "${name}" at ${known.url}. Choose another name with --name.`);
  if (options.json !== true) tell(run, named);
  if (hasFailed(checked.findings)) {
    if (options.json === true) terminal.say(JSON.stringify({ ...checked, agent: name, changed: false }));
    else terminal.say(`Nothing was written.${(entry.tokenEnv ?? entry.tokenCommand) ? '' : NEEDS_TOKEN}`);
    return EXIT_FAILURE;
  }
  const isFirst = settings.agentUrl === undefined && Object.keys(settings.agents).length === 0;
  const { abilities, findings } = checked;
  return write(run, {
    name,
    facts: { abilities, findings },
    decide: (text) => withAgent(text, name, entry),
    after: isFirst
      ? `Delegated tasks now go to "${name}". The server on this machine is used only while no agent is configured; to have both, add its URL too.`
      : `Name it to delegate to it: agent "${name}".`,
  });
}

/** @throws ProductError CONFIGURATION; UNKNOWN_AGENT if the file has no such agent */
export async function removeAgent(run: CommandRun<WriteOptions>, name: string): Promise<number> {
  const { settings } = run;
  if (configured(settings, name) === undefined) {
    const names = Object.keys(settings.agents).join(', ');
    throw new ProductError(
      'UNKNOWN_AGENT',
      `The configuration file has no agent "${visibleLine(name)}". ${names === '' ? 'It has none.' : `It has: ${names}.`}`,
    );
  }
  return write(run, {
    name,
    facts: {},
    decide: (text) => withoutAgent(text, name),
    after: 'Its tasks go on. Its sessions are not listed here any more.',
  });
}

interface Change {
  name: string;
  facts: object;
  decide: (text: string) => ConfigChange;
  /** What the person reads after the change. */
  after: string;
}

async function write(
  { options, settings, terminal }: CommandRun<WriteOptions>,
  { name, facts, decide, after }: Change,
): Promise<number> {
  const json = options.json === true;
  const report = (path: string, changed: boolean): void => {
    if (json) terminal.say(JSON.stringify({ agent: name, path, changed, ...facts }));
  };
  const say = (text: string): void => {
    if (!json) terminal.say(text);
  };
  await prepareStateDirectory(settings.stateDir);
  const path = settings.configFile ?? join(settings.stateDir, 'config.json');
  const change = await planEntryChange(path, name, decide);
  if (change.type === 'same') {
    say(`${change.file.path} is as it should be: nothing to change.`);
    report(change.file.path, false);
    return 0;
  }
  say(paintDiff(visibleText(change.diff), terminal.paint));
  const asks = terminal.interactive && options.yes !== true && !json;
  if (options.dryRun === true || (asks && !(await terminal.confirm(`Write this to ${change.file.path}?`)))) {
    say('Nothing was written.');
    report(change.file.path, false);
    return options.dryRun === true ? 0 : EXIT_FAILURE;
  }
  await writeConfig(change.file, change.text, MODE);
  say(
    `Written to ${change.file.path}. ${after} Restart the MCP clients: each bridge reads its settings once.`,
  );
  report(change.file.path, true);
  return 0;
}

interface CheckedAgent {
  agent: Pick<Agent, 'name'>;
  findings: readonly CheckResult[];
  /** Null if the agent cannot be asked. */
  abilities: AgentAbilities | null;
}

async function checkOne(agent: Agent): Promise<CheckedAgent> {
  const findings = await checkAgent(agent);
  const abilities = hasFailed(findings) ? null : await agentAbilities(agent);
  return { agent, findings, abilities };
}

function tell({ terminal }: CommandRun<CommonOptions>, { agent, findings, abilities }: CheckedAgent): void {
  terminal.say(terminal.paint('bold', agent.name));
  for (const { level, message, next } of findings) {
    const mark = { ok: '✓', warn: '!', fail: '✗' }[level];
    terminal.say(`${mark} ${visibleText(message)}${next === undefined ? '' : `\n  → ${visibleText(next)}`}`);
  }
  if (abilities !== null) terminal.say(abilitiesText(abilities));
}

/** A name such as `constructor` is no agent. */
function configured({ agents }: BridgeSettings, name: string): AgentSettings | undefined {
  return Object.hasOwn(agents, name) ? agents[name] : undefined;
}

function hasFailed(findings: readonly CheckResult[]): boolean {
  return findings.some(({ level }) => level === 'fail');
}

/** @throws UsageError */
function entryOf(url: string, { name, cardUrl, tokenVariable, tokenCommand }: AddOptions): AgentEntry {
  if (tokenVariable !== undefined && tokenCommand !== undefined)
    throw new UsageError('Name a variable or a command for the token, not both.');
  if (name !== undefined && !agentName.safeParse(name).success)
    throw new UsageError('A name has up to 100 letters, digits, ".", "_" and "-".');
  const entry = {
    url,
    ...(cardUrl !== undefined && { cardUrl }),
    ...(tokenVariable !== undefined && { tokenEnv: tokenVariable }),
    ...(tokenCommand !== undefined && { tokenCommand: commandWords(tokenCommand, '--token-command') }),
  };
  const parsed = agentSettings.safeParse(entry);
  if (parsed.success) return entry;
  throw new UsageError(`This agent cannot be added: ${issuesText(parsed.error)}.`);
}
