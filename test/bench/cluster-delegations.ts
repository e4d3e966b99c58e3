/** Measures whole delegations per second: a message, an approval of one file, and the result. */
import { TaskState } from '@a2a-js/sdk';
import type { Client as A2aClient } from '@a2a-js/sdk/client';
import { Client } from 'pg';
import { cardOf, clientFor, saying, WITH_APPROVAL } from './agent.ts';
import type { BenchContext, Figure } from './benchmark.ts';
import type { StartServers } from './cluster.ts';
import { approving, lastWaiting } from './waiting-call.ts';

const CLIENTS = 16;
const TASKS = 480;
/** The first tasks are not measured, because Node still compiles code. */
const WARM_UP_TASKS = 160;

/** Each request of a task goes to the next server. */
export async function measureDelegations(
  { note }: BenchContext,
  start: StartServers,
  { servers, url }: { servers: number; url: string | undefined },
): Promise<Figure[]> {
  const agents = await start(servers, url);
  try {
    const clients = await Promise.all(
      agents.map(async (agent) => clientFor(await cardOf(agent.url), agent.token, agent.url)),
    );
    await runTasks(clients, WARM_UP_TASKS, 'warm-up');
    const before = await databaseKb(url);
    const began = performance.now();
    await runTasks(clients, TASKS, 'measured');
    const rate = TASKS / ((performance.now() - began) / 1_000);
    const where = url === undefined ? 'SQLite' : 'PostgreSQL';
    const name = `delegations with an approval, ${servers} server${servers === 1 ? '' : 's'} on ${where}`;
    note(`cluster: ${name} done`);
    const size = ((await databaseKb(url)) - before) / TASKS;
    return [
      { name, value: rate, unit: 'tasks/s' },
      ...(url === undefined
        ? []
        : [
            {
              name: `database size of a delegation, ${servers} on PostgreSQL`,
              value: size,
              unit: 'KB' as const,
            },
          ]),
    ];
  } finally {
    await Promise.all(agents.map(({ program }) => program.stop()));
  }
}

async function databaseKb(url: string | undefined): Promise<number> {
  if (url === undefined) return 0;
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ bytes: string }>(
    'SELECT pg_database_size(current_database()) AS bytes',
  );
  await client.end();
  return Number(rows[0]?.bytes) / 1024;
}

async function runTasks(clients: readonly A2aClient[], count: number, name: string): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let task = next++; task < count; task = next++) await delegate(clients, `${name}-${task}`, task);
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
}

async function delegate(clients: readonly A2aClient[], name: string, task: number): Promise<void> {
  const [first, second] = [clients[task % clients.length], clients[(task + 1) % clients.length]];
  if (first === undefined || second === undefined) throw new Error('no server has started');
  const call = { tool: 'append-file', input: { path: `${name}.txt`, content: 'one line\n' } };
  const text = JSON.stringify({ plan: [call] });
  const waiting = await lastWaiting(first.sendMessageStream(saying({ text }), WITH_APPROVAL));
  if (waiting === undefined) throw new Error('no call waits for a decision');
  let state: number | undefined;
  await lastWaiting(second.sendMessageStream(approving(waiting), WITH_APPROVAL), ({ payload }) => {
    if (payload?.$case === 'statusUpdate') state = payload.value.status?.state ?? state;
  });
  if (state !== TaskState.TASK_STATE_COMPLETED)
    throw new Error(`the task ended with the state ${String(state)}`);
}
