/** Measures several servers on one PostgreSQL. All servers, the database and the clients share this machine. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres, whyNoPostgres } from '../support/postgres-server.ts';
import { type Agent, startAgent } from './agent.ts';
import type { BenchContext, Benchmark } from './benchmark.ts';
import { measureDelegations } from './cluster-delegations.ts';
import { measureParked } from './cluster-parked.ts';
import { measureReaders } from './cluster-readers.ts';
import { measureRest } from './cluster-rest.ts';
import { measureTakeover } from './cluster-takeover.ts';
import { measureWakeUps } from './cluster-wake-ups.ts';

const SERVERS = 3;
const TOKEN = 'a-token-of-all-servers-0123456789';

/** Starts servers with one database, one workspace and one token. Without a URL, it starts one server on SQLite. */
export type StartServers = (
  count: number,
  url: string | undefined,
  more?: { args?: readonly string[]; env?: Readonly<Record<string, string>> },
) => Promise<Agent[]>;

/** PostgreSQL waits for the disk at each commit. */
export const cluster: Benchmark = {
  id: 'cluster',
  title:
    'servers on one PostgreSQL: wake-ups, delegations, readers, takeovers, parked tasks, and servers at rest',
  async run(context) {
    if (whyNoPostgres !== undefined) {
      context.note(whyNoPostgres);
      return [];
    }
    const database = await startPostgres('fsync=on', 'max_connections=200');
    const startServers = await serversOf(context);
    const create = (): Promise<string> => database.createDatabase();
    const parts = [
      async () => measureWakeUps(await create()),
      async () => [
        ...(await measureDelegations(context, startServers, { servers: 1, url: undefined })),
        ...(await measureDelegations(context, startServers, { servers: 1, url: await create() })),
        ...(await measureDelegations(context, startServers, { servers: SERVERS, url: await create() })),
      ],
      async () => measureReaders(context, startServers, { servers: SERVERS, url: await create() }),
      async () => measureTakeover(context, startServers, await create()),
      async () => measureParked(startServers, await create()),
      async () => measureRest(startServers, { servers: SERVERS, url: await create() }),
    ];
    try {
      const figures = [];
      for (const part of parts) figures.push(...(await part()));
      return figures;
    } finally {
      await database.dispose();
    }
  },
};

async function serversOf(context: BenchContext): Promise<StartServers> {
  const workspace = await mkdtemp(join(context.directory, 'workspace-'));
  return async (count, url, { args = [], env = {} } = {}) => {
    const servers: Agent[] = [];
    for (let index = 0; index < count; index += 1)
      servers.push(
        await startAgent(context, {
          args: [`--workspace=${workspace}`, ...args],
          env: {
            A2A_SERVER_TOKENS: `team=${TOKEN}`,
            ...(url !== undefined && { A2A_SERVER_DATABASE: url }),
            ...env,
          },
        }),
      );
    return servers.map((server) => ({ ...server, token: TOKEN, workspace }));
  };
}
