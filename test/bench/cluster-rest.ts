/** Measures what servers without work cost: the lease is renewed every second, and one query looks for abandoned tasks. */
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import type { Agent } from './agent.ts';
import type { Figure } from './benchmark.ts';
import { cpuMs } from './child-program.ts';
import type { StartServers } from './cluster.ts';

const SECONDS = 20;

export async function measureRest(
  start: StartServers,
  { servers, url }: { servers: number; url: string },
): Promise<Figure[]> {
  const agents = await start(servers, url);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const before = await costs(agents, client);
    await wait(SECONDS * 1_000);
    const after = await costs(agents, client);
    const share = servers * SECONDS;
    return [
      {
        name: 'transactions of a server without work, per second',
        value: (after.transactions - before.transactions) / share,
        unit: 'count',
      },
      {
        name: 'CPU time of a server without work, per second',
        value: (after.cpuMs - before.cpuMs) / share,
        unit: 'ms',
      },
    ];
  } finally {
    await client.end();
    await Promise.all(agents.map(({ program }) => program.stop()));
  }
}

async function costs(
  agents: readonly Agent[],
  client: Client,
): Promise<{ transactions: number; cpuMs: number }> {
  const { rows } = await client.query<{ transactions: string }>(
    `SELECT xact_commit + xact_rollback AS transactions FROM pg_stat_database
     WHERE datname = current_database()`,
  );
  const cpu = await Promise.all(agents.map(({ program }) => cpuMs(program.pid)));
  return { transactions: Number(rows[0]?.transactions), cpuMs: cpu.reduce((sum, each) => sum + each, 0) };
}
