import { ProductError } from '../../../shared/runtime/errors.ts';
import { readSchemaVersion } from '../../../shared/sqlite/schema-version.ts';
import { countOldCosts, CREATE_COSTS } from './cost-table.ts';
import { CREATE_WRITTEN } from './written-table.ts';
import type { Sqlite } from '../../../shared/sqlite/driver.ts';
import { switchToWriteAheadLog } from '../../../shared/sqlite/write-ahead-log.ts';

/** The `PRAGMA application_id` of a journal, "a2aj" in ASCII. */
const APPLICATION_ID = 0x6132616a;

/**
 * One step of an upgrade. It is SQL, or a function for what SQL cannot do. The function runs in the transaction of the
 * upgrade.
 */
type Migration = string | ((database: Sqlite) => void);

/**
 * The first n migrations create version n. A published migration must never change.
 *
 * `events.body` has the event's JSON as text, because SQLite's JSON functions fail beyond a depth of 1,000, and an
 * event may be deeper.
 */
const MIGRATIONS: readonly Migration[] = [
  `
  CREATE TABLE tasks (
    key        INTEGER PRIMARY KEY,
    task_id    TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    principal  TEXT NOT NULL,
    state      TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    title      TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX one_live_task_per_session ON tasks (principal, session_id)
    WHERE state IN ('submitted', 'working', 'input-required');
  CREATE INDEX tasks_of_a_session ON tasks (principal, session_id, key);
  CREATE INDEX tasks_by_update ON tasks (principal, updated_at, key);
  CREATE INDEX moving_tasks ON tasks (key) WHERE state IN ('submitted', 'working');

  CREATE TABLE events (
    task INTEGER NOT NULL REFERENCES tasks (key),
    seq  INTEGER NOT NULL,
    at   INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (task, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE commands (
    principal  TEXT NOT NULL,
    message_id TEXT NOT NULL,
    body_hash  TEXT NOT NULL,
    task       INTEGER NOT NULL REFERENCES tasks (key),
    seq        INTEGER NOT NULL,
    PRIMARY KEY (principal, message_id)
  ) STRICT, WITHOUT ROWID;
  `,
  // A task that already waited for a person in an earlier version has no deadline, neither in its row nor in its
  // events.
  `
  ALTER TABLE tasks ADD COLUMN deadline INTEGER;
  CREATE INDEX tasks_by_deadline ON tasks (deadline, key) WHERE deadline IS NOT NULL;
  `,
  // These indexes find old sessions, and the commands of a task, without a full scan.
  `
  CREATE INDEX ended_tasks ON tasks (updated_at)
    WHERE state IN ('completed', 'failed', 'canceled', 'rejected');
  CREATE INDEX commands_of_a_task ON commands (task);
  `,
  // A row with `first` contains the events from `first` to its `seq`. `tasks.packed` is the last packed `seq`.
  `
  ALTER TABLE events ADD COLUMN first INTEGER;
  ALTER TABLE tasks ADD COLUMN packed INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX tasks_to_pack ON tasks (key)
    WHERE state NOT IN ('submitted', 'working') AND seq - packed >= 512;
  `,
  // This index also covers tasks that wait for a sign-in, because they are live too.
  `
  DROP INDEX one_live_task_per_session;
  CREATE UNIQUE INDEX one_live_task_per_session ON tasks (principal, session_id)
    WHERE state NOT IN ('completed', 'failed', 'canceled', 'rejected');
  `,
  // With the table `tool_executions`, the server knows whether a tool execution has ended or never existed. The table
  // lacks the executions of earlier versions.
  `
  CREATE TABLE tool_executions (
    tool_id TEXT PRIMARY KEY,
    task    INTEGER NOT NULL REFERENCES tasks (key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tool_executions_of_a_task ON tool_executions (task);
  `,
  // The file contents that events name by hash. One transaction writes an event and the contents that it names.
  `
  CREATE TABLE contents (
    task  INTEGER NOT NULL REFERENCES tasks (key),
    hash  TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (task, hash)
  ) STRICT;
  ALTER TABLE tasks ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX tasks_with_saved_files ON tasks (principal, updated_at) WHERE saved = 1;
  `,
  // The process that writes this journal. `file` identifies the journal's file, so a copy of the file has no owner.
  `
  CREATE TABLE owner (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    pid     INTEGER NOT NULL,
    started TEXT NOT NULL,
    boot    TEXT NOT NULL,
    file    TEXT NOT NULL
  ) STRICT;
  `,
  CREATE_COSTS,
  // In journals of earlier versions, only the events contain the costs.
  countOldCosts,
  // The statistics read only these indexes. The index of states has only `state`, which changes less often than
  // `updated_at`.
  `
  CREATE INDEX tasks_by_state ON tasks (state);
  CREATE INDEX waiting_tasks ON tasks (updated_at) WHERE state IN ('input-required', 'auth-required');
  `,
  // This index finds the tasks of a tenant, because a principal of a tenant has the name `tenant/name`.
  `
  CREATE INDEX tasks_of_a_tenant ON tasks (substr(principal, 1, instr(principal, '/')), updated_at, key)
    WHERE instr(principal, '/') > 0;
  `,
  CREATE_WRITTEN,
];

/**
 * Upgrades the database to this program's version and sets its durability. A file that is not a journal, or a journal
 * of a newer version, stays unchanged.
 * @throws ProductError CONFIGURATION
 */
export function migrate(database: Sqlite, path: string, migrations = MIGRATIONS): void {
  const version = versionOf(database, path);
  requireKnown(version, migrations.length, path);
  // J1: clients see durable events only, so a commit must survive a power loss.
  switchToWriteAheadLog(database);
  database.exec('PRAGMA foreign_keys = ON');
  if (version === migrations.length) return;
  database.transaction(() => {
    for (const migration of migrations.slice(version))
      if (typeof migration === 'string') database.exec(migration);
      else migration(database);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migrations.length};`);
  });
}

/** Checks the version of the journal. @throws ProductError CONFIGURATION if this program cannot open the journal */
export function requireKnownSchema(database: Sqlite, path: string): 'current' | 'earlier' {
  const version = versionOf(database, path);
  requireKnown(version, MIGRATIONS.length, path);
  return version === MIGRATIONS.length ? 'current' : 'earlier';
}

function requireKnown(version: number, newest: number, path: string): void {
  if (version <= newest) return;
  throw new ProductError(
    'CONFIGURATION',
    `The journal ${path} was written by a newer a2a-server (version ${version}, this one knows ${newest}). Nothing was changed; update a2a-server, or choose another state directory.`,
  );
}

/**
 * Refuses an empty file, e.g. after a failed copy onto a full disk. A server would make this file a journal without
 * tasks.
 */
export function requireNotEmpty(database: Sqlite, path: string): void {
  if (versionOf(database, path) === 0)
    throw new ProductError('CONFIGURATION', `${path} is empty, so it is not used. Use another backup.`, {
      facts: { path },
    });
}

/** Checks the version for a reader, which must not upgrade the journal. @throws ProductError CONFIGURATION */
export function requireCurrentSchema(database: Sqlite, path: string): void {
  const version = versionOf(database, path);
  if (version === MIGRATIONS.length) return;
  if (version === 0)
    throw new ProductError(
      'CONFIGURATION',
      `There is no journal in ${path}: the file is empty. Check the path, or restore a backup.`,
      { facts: { path } },
    );
  throw new ProductError(
    'CONFIGURATION',
    `The journal ${path} was written by another version of a2a-server (${version}, this one writes ${MIGRATIONS.length}). To convert it, start this version's server with it once. Or read it with the other version.`,
  );
}

function versionOf(database: Sqlite, path: string): number {
  return readSchemaVersion(database, path, {
    applicationId: APPLICATION_ID,
    name: 'a journal of a2a-server',
  });
}
