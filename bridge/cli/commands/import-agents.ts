/** The command `agents import`: lists the agents of a registry, and adds those that the person chooses. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { nearestNames } from '../../../shared/text/nearest-names.ts';
import { countWithNoun } from '../../../shared/text/one-line.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { addAgentsToConfigText } from '../agents/agent-entry.ts';
import type { ParsedAgentList } from '../agents/registry/agent-list.ts';
import { agentListText, unusableEntryLines } from '../agents/registry/agent-list-text.ts';
import { readRegistry } from '../agents/registry/read-registry.ts';
import {
  printAgentTrial,
  trialFacts,
  type AgentTrial,
  tryListedAgent,
} from '../agents/registry/try-listed-agent.ts';
import { firstAgentNote, writeAgents } from '../agents/write-agents.ts';
import type { WriteOptions } from '../clients/plan-entry-change.ts';
import type { CommandRun } from '../context/run-command.ts';
import { commandWord } from '../terminal/command-word.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';

interface ImportOptions extends WriteOptions {
  all?: boolean;
}

type AgentInList = ParsedAgentList['agents'][number];

/** The maximum number of agents that are tried at the same time. */
const MAX_PARALLEL_TRIALS = 8;

/**
 * Lists the agents of a registry. With names or `--all`, tries each chosen agent, and adds each agent that passes.
 * @param source the file or URL of the registry
 * @returns EXIT_FAILURE if an agent cannot be added
 * @throws UsageError; ProductError CONFIGURATION, AGENT_UNREACHABLE, UNKNOWN_AGENT
 */
export async function importAgentsCommand(
  run: CommandRun<ImportOptions>,
  source: string,
  names: readonly string[],
): Promise<number> {
  const { options, terminal } = run;
  const { isRemote, ...list } = await readRegistry(source);
  if (names.length === 0 && options.all !== true) {
    terminal.json({ registry: source, ...list });
    terminal.explain(`${agentListText(list, terminal.width)}\n${howToAdd(source, list)}`);
    return 0;
  }
  const chosen = names.length === 0 ? list.agents : names.map((name) => pickListedAgent(list.agents, name));
  const unusable = names.length === 0 ? list.unusable : [];
  const trials = await tryEach(run, chosen, isRemote);
  const usable = trials.flatMap((trial) => (trial.type === 'usable' ? [trial] : []));
  const failures =
    unusable.length + trials.filter(({ type }) => type === 'refused' || type === 'failed').length;
  if (failures > 0)
    terminal.explain(
      [
        ...unusableEntryLines({ ...list, unusable }),
        `${failures} of ${countWithNoun(trials.length + unusable.length, 'agent')} cannot be added. If an agent needs a token: mcp-a2a-bridge agents add <url> --token-variable <name>`,
      ].join('\n'),
    );
  const facts = { registry: source, agents: trials.map(trialFacts), unusable };
  const [first] = usable;
  if (first === undefined) {
    terminal.json({ ...facts, changed: false });
    terminal.say('Nothing was written.');
    return failures > 0 ? EXIT_FAILURE : 0;
  }
  const code = await writeAgents(run, {
    facts,
    decide: (text) => addAgentsToConfigText(text, usable),
    after:
      firstAgentNote(run.settings, first.name) ?? `Name an agent to delegate to it: agent "${first.name}".`,
  });
  return failures > 0 ? EXIT_FAILURE : code;
}

async function tryEach(
  run: CommandRun<ImportOptions>,
  chosen: readonly AgentInList[],
  isRemote: boolean,
): Promise<readonly AgentTrial[]> {
  const trials: AgentTrial[] = [];
  for (let first = 0; first < chosen.length; first += MAX_PARALLEL_TRIALS) {
    const group = chosen.slice(first, first + MAX_PARALLEL_TRIALS);
    for (const trial of await Promise.all(group.map((agent) => tryListedAgent(run, agent, isRemote)))) {
      printAgentTrial(run.terminal, trial);
      trials.push(trial);
    }
  }
  return trials;
}

/** Returns the agent with this name or title. @throws ProductError UNKNOWN_AGENT */
function pickListedAgent(agents: readonly AgentInList[], wanted: string): AgentInList {
  const found = agents.find(({ name }) => name === wanted) ?? agents.find(({ title }) => title === wanted);
  if (found !== undefined) return found;
  const names = agents.map(({ name }) => name);
  const similar = nearestNames(wanted, names);
  throw new ProductError(
    'UNKNOWN_AGENT',
    `The registry has no agent "${visibleLine(wanted)}". ${similar.length === 0 ? 'Without a name, this command lists its agents.' : `Similar: ${similar.join(', ')}.`}`,
  );
}

function howToAdd(source: string, { agents: [first] }: ParsedAgentList): string {
  return first === undefined
    ? 'Nothing was written.'
    : `Nothing was written. Name the agents to add, or use --all: mcp-a2a-bridge agents import ${commandWord(source)} ${first.name}`;
}
