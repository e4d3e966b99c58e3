/** The PostgreSQL of a run: the one at `--database`, or one that starts with the run. Each round has its own schema or database. */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { startPostgres, whyNoPostgres } from '../support/postgres-server.ts';

export interface FaultDatabase {
  /** Creates an empty place for the journal of a round. */
  create(): Promise<{ url: string; remove: () => Promise<void> }>;
  close(): Promise<void>;
}

/** @param url undefined to start a PostgreSQL. @throws Error if this machine cannot start one */
export async function openFaultDatabase(url: string | undefined): Promise<FaultDatabase> {
  if (url !== undefined) return schemasOf(url);
  if (whyNoPostgres !== undefined)
    throw new Error(`${whyNoPostgres}. Name a database with --database <url>.`);
  const server = await startPostgres('max_connections=300');
  return {
    async create() {
      const database = await server.createDatabase();
      return { url: database, remove: () => server.dropDatabase(database) };
    },
    close: () => server.dispose(),
  };
}

function schemasOf(url: string): FaultDatabase {
  return {
    async create() {
      const schema = `faults_${randomUUID().replaceAll('-', '')}`;
      await run(url, `CREATE SCHEMA ${schema}`);
      const own = new URL(url);
      own.searchParams.set('options', `-c search_path=${schema}`);
      return { url: own.href, remove: () => run(url, `DROP SCHEMA ${schema} CASCADE`) };
    },
    close: async () => undefined,
  };
}

async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
