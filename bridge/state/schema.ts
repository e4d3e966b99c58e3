/** The tables of the bridge's database, in versions that are only ever added to. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Sqlite } from '../../shared/sqlite/driver.ts';

/** `PRAGMA application_id` of our files: "a2ab" in ASCII. */
const APPLICATION_ID = 0x61326162;

/**
 * Version n is what the first n of these make. A published one is never edited.
 *
 * `owner` is the process that answers for a row (`process-id.ts`). A row of a process that has ended is free to be taken
 * over, in one transaction, so by one process.
 *
 * - `delegations`: the outbox (B1). A row is there before its message leaves. It stays open until the client has the result,
 *   and then keeps the handle of its session. `work` is the message as JSON: every attempt sends the very same.
 *   `ended` and `handed_over_by` are the inbox (R68): the task has ended, and which process put its result in an answer that
 *   the client has not confirmed.
 * - `decision_claims`: which message decides a call, for agents that run a call once for each approval (E2).
 * - `webhook_posts`: which pending action a bridge posts, and how far it has come.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE delegations (
    message_id     TEXT PRIMARY KEY,
    owner          TEXT NOT NULL,
    agent          TEXT NOT NULL,
    created_at     TEXT NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('sending', 'accepted', 'lost', 'collected')),
    task_id        TEXT,
    session_id     TEXT,
    problem        TEXT,
    title          TEXT NOT NULL,
    work           TEXT NOT NULL,
    cancel         TEXT,
    answered       INTEGER NOT NULL,
    ended          TEXT,
    ended_at       INTEGER,
    handed_over_by TEXT
  ) STRICT;
  CREATE INDEX delegations_by_state ON delegations (state, created_at);
  CREATE INDEX delegations_by_task ON delegations (task_id);
  CREATE INDEX delegations_by_session ON delegations (session_id);
  CREATE INDEX waiting_results ON delegations (ended_at) WHERE state = 'accepted' AND ended IS NOT NULL;

  CREATE TABLE decision_claims (
    agent      TEXT NOT NULL,
    task_id    TEXT NOT NULL,
    call_id    TEXT NOT NULL,
    shown      TEXT NOT NULL,
    message_id TEXT NOT NULL,
    owner      TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (agent, task_id, call_id, shown)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE webhook_posts (
    agent      TEXT NOT NULL,
    session_id TEXT NOT NULL,
    task_id    TEXT NOT NULL,
    call_id    TEXT NOT NULL,
    shown      TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('asking', 'asked', 'over')),
    owner      TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (agent, task_id, call_id, shown)
  ) STRICT, WITHOUT ROWID;
  `,
];

/**
 * Brings the database to this program's version. A file of another program, or of a newer version, is left as it was.
 * @throws ProductError CONFIGURATION
 */
export function migrate(database: Sqlite, path: string, migrations = MIGRATIONS): void {
  const version = versionOf(database, path);
  if (version > migrations.length) {
    throw new ProductError(
      'CONFIGURATION',
      `The bridge's database ${path} was written by a newer mcp-a2a-bridge (version ${String(version)}, this one knows ${String(migrations.length)}). Nothing was changed; update mcp-a2a-bridge, or choose another state directory.`,
    );
  }
  // WAL before the first table: a bridge that reads never waits. FULL: what is committed outlives a loss of power (B1).
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  if (version === migrations.length) return;
  database.transaction(() => {
    // Another bridge may have made the tables meanwhile.
    for (const migration of migrations.slice(versionOf(database, path))) database.exec(migration);
    database.exec(
      `PRAGMA application_id = ${String(APPLICATION_ID)}; PRAGMA user_version = ${String(migrations.length)};`,
    );
  });
}

function versionOf(database: Sqlite, path: string): number {
  const read = (sql: string): number => Number(database.query(sql)()[0]?.[0]);
  const applicationId = read('PRAGMA application_id');
  const version = read('PRAGMA user_version');
  if (applicationId === APPLICATION_ID) return version;
  if (applicationId === 0 && version === 0 && read('SELECT count(*) FROM sqlite_schema') === 0) return 0;
  throw new ProductError(
    'CONFIGURATION',
    `${path} is a database of another program, not the bridge's. Nothing was changed; move it away, or choose another state directory.`,
  );
}
