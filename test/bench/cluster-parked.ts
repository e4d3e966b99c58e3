/** Measures the start of a server on a database with many tasks that wait for a person. */
import { openPostgresJournal } from '../../a2a-server/journal/postgres/postgres-journal.ts';
import { addParkedTasks } from '../support/parked-tasks.ts';
import { cardOf, clientFor, saying } from './agent.ts';
import type { Figure } from './benchmark.ts';
import type { StartServers } from './cluster.ts';
import { residentMb, settled } from './memory.ts';
import { median } from './statistics.ts';

const TASKS = 100_000;
const ROUNDS = 5;

export async function measureParked(start: StartServers, url: string): Promise<Figure[]> {
  const none = await measure(start, url);
  await addTasks(start, url);
  const many = await measure(start, url);
  return [
    { name: `start → ready, ${TASKS} parked tasks, median`, value: many.startMs, unit: 'ms' },
    { name: 'start → ready without tasks, median', value: none.startMs, unit: 'ms' },
    {
      name: `resident memory a task, of ${TASKS}`,
      value: (1024 * (many.residentMb - none.residentMb)) / TASKS,
      unit: 'KB',
    },
  ];
}

async function measure(start: StartServers, url: string): Promise<{ startMs: number; residentMb: number }> {
  const rounds: { startMs: number; residentMb: number }[] = [];
  while (rounds.length < ROUNDS) {
    const [agent] = await start(1, url);
    if (agent === undefined) throw new Error('no server has started');
    await settled();
    rounds.push({ startMs: agent.program.startedInMs, residentMb: await residentMb(agent.program.pid) });
    await agent.program.stop();
  }
  return {
    startMs: median(rounds.map(({ startMs }) => startMs)),
    residentMb: median(rounds.map((round) => round.residentMb)),
  };
}

/** Lets a server park one task, and adds copies of it. */
async function addTasks(start: StartServers, url: string): Promise<void> {
  const [agent] = await start(1, url);
  if (agent === undefined) throw new Error('no server has started');
  const client = await clientFor(await cardOf(agent.url), agent.token);
  for await (const event of client.sendMessageStream(saying({ text: 'append "once" to effects.txt' })))
    void event;
  await agent.program.stop();
  const journal = await openPostgresJournal({ url, clock: Date.now });
  try {
    const [row] = (await journal.list({ principal: 'team' }, { size: 1 })).rows;
    if (row?.state !== 'input-required') throw new Error(`the first task is ${row?.state}, not parked`);
    await addParkedTasks(journal, await journal.read(row.taskId, 0, 100), TASKS);
  } finally {
    await journal.close();
  }
}
