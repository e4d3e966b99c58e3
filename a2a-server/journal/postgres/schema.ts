/** Defines the tables of the journal in PostgreSQL, and upgrades them. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { integerColumn, textColumn } from '../validate-column-values.ts';
import type { PostgresConnection, QueryRunner } from './driver.ts';
import { CREATE_APPEND_BATCH } from './append-batch-sql.ts';

/** The oldest accepted version of PostgreSQL. The PostgreSQL project maintains no older version today. */
const OLDEST_POSTGRES = 14;

/**
 * The first n migrations create version n. A published migration must never change.
 *
 * Ids and states have the collation "C": the order of their bytes, on every machine. A task's events have no foreign
 * key, so a task can be deleted before its events (`delete-sessions.ts`). The owner of a task is the node that executes
 * it (`ownership.ts`). `append_batch` is no migration: each upgrade replaces it.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE tasks (
    key           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id       text COLLATE "C" NOT NULL UNIQUE,
    session_id    text COLLATE "C" NOT NULL,
    principal     text COLLATE "C" NOT NULL,
    state         text COLLATE "C" NOT NULL,
    seq           integer NOT NULL,
    created_at    bigint NOT NULL,
    updated_at    bigint NOT NULL,
    title         text COLLATE "C" NOT NULL,
    deadline      bigint,
    model         text COLLATE "C",
    workspace     text COLLATE "C",
    first_message text COLLATE "C" NOT NULL,
    saved         boolean NOT NULL,
    packed        integer NOT NULL DEFAULT 0,
    owner         text COLLATE "C",
    epoch         bigint NOT NULL DEFAULT 0
  );
  CREATE UNIQUE INDEX one_live_task_per_session ON tasks (principal, session_id)
    WHERE state NOT IN ('completed', 'failed', 'canceled', 'rejected');
  CREATE INDEX tasks_of_a_session ON tasks (principal, session_id, key);
  CREATE INDEX tasks_by_update ON tasks (principal, updated_at, key);
  CREATE INDEX moving_tasks ON tasks (key) WHERE state IN ('submitted', 'working');
  CREATE INDEX tasks_by_deadline ON tasks (deadline, key) WHERE deadline IS NOT NULL;
  CREATE INDEX ended_tasks ON tasks (updated_at)
    WHERE state IN ('completed', 'failed', 'canceled', 'rejected');
  CREATE INDEX tasks_to_pack ON tasks (key)
    WHERE state NOT IN ('submitted', 'working') AND seq - packed >= 512;
  CREATE INDEX tasks_with_saved_files ON tasks (principal, updated_at) WHERE saved;

  -- A row with "first" contains the events from "first" to its seq (packed-row.ts).
  CREATE TABLE events (
    task  bigint NOT NULL,
    seq   integer NOT NULL,
    at    bigint NOT NULL,
    body  text NOT NULL,
    first integer,
    PRIMARY KEY (task, seq)
  );

  CREATE TABLE commands (
    principal  text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    body_hash  text NOT NULL,
    task       bigint NOT NULL,
    seq        integer NOT NULL,
    PRIMARY KEY (principal, message_id)
  );
  CREATE INDEX commands_of_a_task ON commands (task);

  CREATE TABLE tool_executions (
    tool_id text COLLATE "C" PRIMARY KEY,
    task    bigint NOT NULL
  );
  CREATE INDEX tool_executions_of_a_task ON tool_executions (task);

  -- A content is the bytes of its chunks, in order.
  CREATE TABLE content_chunks (
    task  bigint NOT NULL,
    hash  text COLLATE "C" NOT NULL,
    chunk integer NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (task, hash, chunk)
  );

  CREATE TABLE costs (
    principal           text COLLATE "C" NOT NULL,
    day                 integer NOT NULL,
    session_id          text COLLATE "C" NOT NULL,
    model               text COLLATE "C" NOT NULL,
    requests            bigint NOT NULL,
    input_tokens        bigint NOT NULL,
    output_tokens       bigint NOT NULL,
    cached_input_tokens bigint NOT NULL,
    cache_write_tokens  bigint NOT NULL,
    known_usd           double precision NOT NULL,
    unpriced            bigint NOT NULL,
    PRIMARY KEY (principal, day, session_id, model)
  );
  CREATE INDEX costs_of_a_session ON costs (principal, session_id);
  CREATE TABLE budget_extensions (
    principal text COLLATE "C" NOT NULL,
    day       integer NOT NULL,
    usd       double precision NOT NULL,
    PRIMARY KEY (principal, day)
  );

  -- The keys of deleted tasks whose events and contents are still stored.
  CREATE TABLE deleted_tasks (key bigint PRIMARY KEY);

  -- The server that writes. "batch" is the number of its last commit.
  CREATE TABLE servers (
    id    text COLLATE "C" PRIMARY KEY,
    batch bigint NOT NULL
  );
  `,
  `
  -- The servers of this database. A server may execute tasks until its lease ends.
  ALTER TABLE servers RENAME TO nodes;
  ALTER TABLE nodes ADD COLUMN lease_until timestamptz NOT NULL DEFAULT '-infinity';
  `,
  `
  -- The statistics read only these indexes.
  CREATE INDEX tasks_by_state ON tasks (state);
  CREATE INDEX waiting_tasks ON tasks (updated_at) WHERE state IN ('input-required', 'auth-required');
  `,
  `
  -- Secrets that all servers use.
  CREATE TABLE shared_secrets (
    name  text COLLATE "C" PRIMARY KEY,
    value text NOT NULL
  );
  `,
  `
  -- Small records that all servers use: secrets, issued tokens, links and sessions of the page.
  CREATE TABLE records (
    kind  text COLLATE "C" NOT NULL,
    name  text COLLATE "C" NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (kind, name)
  );
  INSERT INTO records SELECT 'secrets', name, value FROM shared_secrets;
  DROP TABLE shared_secrets;
  `,
  `
  -- A principal of a tenant has the name "tenant/name".
  CREATE INDEX tasks_of_a_tenant ON tasks (left(principal, strpos(principal, '/')), updated_at, key)
    WHERE strpos(principal, '/') > 0;
  `,
  `
  -- Servers with the same label have the same directories. A task has the label of the server that created it.
  ALTER TABLE nodes ADD COLUMN label text COLLATE "C";
  ALTER TABLE tasks ADD COLUMN label text COLLATE "C";
  `,
  `
  -- The amounts that a principal has written on one UTC day through one server, so that no server waits for the rows of
  -- another. The size of a task; tasks of earlier versions begin with 0.
  CREATE TABLE written (
    day       integer NOT NULL,
    principal text COLLATE "C" NOT NULL,
    server    text COLLATE "C" NOT NULL,
    events    bigint NOT NULL,
    bytes     bigint NOT NULL,
    PRIMARY KEY (day, principal, server)
  );
  ALTER TABLE tasks ADD COLUMN size bigint NOT NULL DEFAULT 0;
  `,
  `
  -- The number of the last commit of each server. A commit locks this row, and a renewal of the lease updates "nodes", so
  -- neither waits for the other. Servers of earlier versions have no row here, and their number in "nodes".
  ALTER TABLE nodes ALTER COLUMN batch DROP NOT NULL;
  CREATE TABLE commits (
    server text COLLATE "C" PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
    batch  bigint NOT NULL
  );
  `,
];

/**
 * The time limit for each lock of an upgrade, in milliseconds. While the upgrade waits for a lock, the other servers
 * wait too, and cannot renew their leases. Without a limit, this wait could last until the end of a `pg_dump`, which
 * locks all tables against an upgrade.
 */
const UPGRADE_LOCK_MS = 1_500;

/** The time limit for the work of an upgrade, in milliseconds. To build the indexes of a large database takes long. */
const UPGRADE_MS = 60 * 60_000;

/**
 * Upgrades the tables to this program's version. The caller must have the journal's lock, so that no other server
 * upgrades at the same time.
 * @throws ProductError CONFIGURATION if PostgreSQL is too old, the encoding is not UTF8, or the journal is newer;
 * PostgresError
 */
export async function migrate(connection: PostgresConnection, label: string): Promise<void> {
  await requireSupported(connection, label);
  const version = await schemaVersion(connection);
  requireKnown(version, label);
  if (version === MIGRATIONS.length) return;
  const steps = MIGRATIONS.slice(version).join('\n');
  // PostgreSQL runs several statements without parameters as one transaction.
  await connection.query({
    timeoutMs: UPGRADE_MS,
    text: `
      SET LOCAL lock_timeout = ${UPGRADE_LOCK_MS};
      CREATE TABLE IF NOT EXISTS a2a_journal (id integer PRIMARY KEY CHECK (id = 1), version integer NOT NULL);
      ${steps}
      ${CREATE_APPEND_BATCH}
      INSERT INTO a2a_journal VALUES (1, ${MIGRATIONS.length})
        ON CONFLICT (id) DO UPDATE SET version = ${MIGRATIONS.length};`,
  });
}

/**
 * Checks that the tables have this program's version.
 * @throws ProductError CONFIGURATION if no server of this version has used the database; PostgresError
 */
export async function requireCurrentSchema(database: QueryRunner, label: string): Promise<void> {
  const version = await schemaVersion(database);
  requireKnown(version, label);
  if (version === MIGRATIONS.length) return;
  throw new ProductError(
    'CONFIGURATION',
    version === 0
      ? `There is no journal in the database ${label}. Check the URL: no server has used it.`
      : `The journal in the database ${label} has version ${version}, and this a2a-server reads ${MIGRATIONS.length}. To convert it, start this version's server with it once.`,
  );
}

/**
 * Checks that this program can use the database.
 * @throws ProductError CONFIGURATION if this program cannot use the server or the journal; PostgresError
 */
export async function requireUsableSchema(database: QueryRunner, label: string): Promise<void> {
  await requireSupported(database, label);
  requireKnown(await schemaVersion(database), label);
}

async function requireSupported(database: QueryRunner, label: string): Promise<void> {
  const [[number, schema, encoding] = []] = await database.query({
    text: "SELECT current_setting('server_version_num')::int, current_schema(), current_setting('server_encoding')",
  });
  const major = Math.floor(integerColumn(number) / 10_000);
  if (major < OLDEST_POSTGRES)
    throw new ProductError(
      'CONFIGURATION',
      `The database ${label} runs PostgreSQL ${major}, and a2a-server needs ${OLDEST_POSTGRES} or newer. Upgrade PostgreSQL.`,
    );
  if (encoding !== 'UTF8')
    throw new ProductError(
      'CONFIGURATION',
      `The database ${label} has the encoding ${textColumn(encoding)}, which cannot store every text. Create a database with the encoding UTF8.`,
    );
  if (schema === null)
    throw new ProductError(
      'CONFIGURATION',
      `The database ${label} has no schema for the tables. Create the schema of the search path.`,
    );
}

async function schemaVersion(database: QueryRunner): Promise<number> {
  const [[table] = []] = await database.query({ text: "SELECT to_regclass('a2a_journal')::text" });
  if (table === null) return 0;
  const [[version] = []] = await database.query({ text: `SELECT version FROM ${textColumn(table)}` });
  return integerColumn(version);
}

function requireKnown(version: number, label: string): void {
  if (version <= MIGRATIONS.length) return;
  throw new ProductError(
    'CONFIGURATION',
    `The journal in the database ${label} was written by a newer a2a-server (version ${version}, this one knows ${MIGRATIONS.length}). Nothing was changed; update a2a-server, or choose another database.`,
  );
}
