/** Measures the cost of 100,000 tasks that wait for a person, against none. */
import { join } from 'node:path';
import { openSqliteJournal } from '../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { addParkedTasks } from '../support/parked-tasks.ts';
import { cardOf, clientFor, saying, startAgent } from './agent.ts';
import type { BenchContext, Benchmark } from './benchmark.ts';
import { residentMb, settled } from './memory.ts';
import { median } from './statistics.ts';

const TASKS = 100_000;
const ROUNDS = 5;
const AIM_KB = 1;
const AIM_MS = 1_000;

/**
 * The measured start ends at the server's "ready" line. At that time the server serves, and knows its unfinished tasks.
 */
export const parked: Benchmark = {
  id: 'parked',
  title: `${TASKS} parked tasks, against a server that has none`,
  async run(context) {
    const none = await measure(context, (await startedOnce(context)).stateDirectory);
    context.note(`parked: adding ${TASKS} tasks …`);
    const many = await measure(context, await withParked(context, TASKS));
    return [
      {
        name: 'resident memory a task',
        value: (1024 * (many.residentMb - none.residentMb)) / TASKS,
        unit: 'KB',
        aim: { at: 'most', value: AIM_KB },
      },
      {
        name: 'start → ready, median',
        value: many.startMs,
        unit: 'ms',
        aim: { at: 'most', value: AIM_MS },
      },
      {
        name: 'SIGKILL → ready again, median',
        value: many.killedMs,
        unit: 'ms',
        aim: { at: 'most', value: AIM_MS },
      },
      { name: 'start → ready without tasks, median', value: none.startMs, unit: 'ms' },
      { name: 'SIGKILL → ready again without tasks, median', value: none.killedMs, unit: 'ms' },
      { name: 'resident memory, median', value: many.residentMb, unit: 'MB' },
      { name: 'resident memory without tasks, median', value: none.residentMb, unit: 'MB' },
    ];
  },
};

interface Measured {
  startMs: number;
  killedMs: number;
  residentMb: number;
}

async function measure(context: BenchContext, state: string): Promise<Measured> {
  const rounds: Measured[] = [];
  while (rounds.length < ROUNDS) {
    const first = await startAgent(context, { state });
    await settled();
    const resident = await residentMb(first.program.pid);
    const killed = performance.now();
    await first.program.stop('SIGKILL');
    const second = await startAgent(context, { state });
    const killedMs = performance.now() - killed;
    await second.program.stop();
    rounds.push({ startMs: first.program.startedInMs, killedMs, residentMb: resident });
  }
  const of = (name: keyof Measured): number => median(rounds.map((round) => round[name]));
  return { startMs: of('startMs'), killedMs: of('killedMs'), residentMb: of('residentMb') };
}

/** Creates the state directory of a server that has parked one task. */
async function startedOnce(context: BenchContext): Promise<{ stateDirectory: string }> {
  const agent = await startAgent(context);
  try {
    const client = await clientFor(await cardOf(agent.url), agent.token);
    for await (const event of client.sendMessageStream(saying({ text: 'append "once" to effects.txt' })))
      void event;
    return agent;
  } finally {
    await agent.program.stop();
  }
}

/**
 * Creates a state directory with `count` parked tasks. `parkedTaskId` returns the id of each task. @returns the
 * directory
 */
export async function withParked(context: BenchContext, count: number): Promise<string> {
  const { stateDirectory } = await startedOnce(context);
  const journal = await openSqliteJournal({ path: join(stateDirectory, 'journal.db'), clock: Date.now });
  try {
    const [row] = (await journal.list({ principal: 'local' }, { size: 1 })).rows;
    if (row?.state !== 'input-required')
      throw new Error(`the task to begin with is ${row?.state}, not parked`);
    await addParkedTasks(journal, await journal.read(row.taskId, 0, 100), count);
  } finally {
    await journal.close();
  }
  return stateDirectory;
}
