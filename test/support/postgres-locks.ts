/** Holds and watches locks of a PostgreSQL database, so that a test decides which statement is first. */
import { Client } from 'pg';

/** The interval in which a test asks again for a state that no event announces. */
export const ASK_AGAIN_MS = 20;

/** Runs a statement in a transaction. The returned function commits it. */
export async function beginTransaction(url: string, statement: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('BEGIN');
  await client.query(statement);
  return async () => {
    await client.query('COMMIT');
    await client.end();
  };
}

/** Resolves when this number of statements wait for locks. */
export async function untilWaitingForLocks(url: string, count: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  for (;;) {
    const { rows } = await client.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    if (rows.length >= count) break;
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
  await client.end();
}
