/** The tables of the bridge's database, as a list of migrations. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Sqlite } from '../../shared/sqlite/driver.ts';
import { readSchemaVersion } from '../../shared/sqlite/schema-version.ts';
import { switchToWriteAheadLog } from '../../shared/sqlite/write-ahead-log.ts';

/** The `PRAGMA application_id` of the bridge's database files: "a2ab" in ASCII. */
const APPLICATION_ID = 0x61326162;

/**
 * The migrations. The first n of them produce version n. A published migration is never changed.
 *
 * The column `owner` is the process that is responsible for a row (`process-id.ts`). After that process has ended,
 * another process may become the owner. This happens in a transaction, so only one process succeeds.
 * - `delegations`: the outbox. B1: a delegation happens exactly once, so a row exists before its message is sent. It
 *   stays open until the client has the result. A closed row keeps the session's id, but not the text. `work` is the
 *   message as JSON, the same for every attempt. `ended` and `handed_over_by` are for the inbox (R68: results are
 *   announced until a client collects them). `ended` is the final state of the task. `handed_over_by` is the process
 *   that has sent the result to its client, which has not confirmed the reply yet.
 * - `delegation_files`: the contents of the files of a message. They are deleted together with the message's text.
 * - `decision_claims`: which message decides a call, for agents that run a call once per approval. E2: an approved call
 *   runs at most once.
 * - `webhook_posts`: the posted actions, and the state of each post.
 * - `cut_previews`: the actions whose preview was cut in a tool result.
 * - `used_permits`: the permits to start a task that were used.
 * - `shown_entries`: the entries of the inbox that a desktop notification has shown.
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
  `
  CREATE TABLE cut_previews (
    task_id TEXT NOT NULL,
    shown   TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (task_id, shown)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE used_permits (
    permit TEXT PRIMARY KEY,
    at     INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // Each tool call reads these rows. Without an index, the time of a tool call would grow with the number of sessions.
  `
  CREATE INDEX open_delegations ON delegations (owner, title) WHERE state <> 'collected';
  CREATE INDEX wanted_cancels ON delegations (owner) WHERE cancel IS NOT NULL;
  `,
  `
  CREATE TABLE delegation_files (
    message_id TEXT NOT NULL,
    hash       TEXT NOT NULL,
    bytes      BLOB NOT NULL,
    PRIMARY KEY (message_id, hash)
  ) STRICT;
  CREATE TRIGGER files_of_a_deleted_delegation AFTER DELETE ON delegations BEGIN
    DELETE FROM delegation_files WHERE message_id = OLD.message_id;
  END;
  CREATE TRIGGER files_of_a_collected_delegation AFTER UPDATE OF state ON delegations
    WHEN NEW.state = 'collected' BEGIN
    DELETE FROM delegation_files WHERE message_id = NEW.message_id;
  END;
  `,
  `
  CREATE TABLE shown_entries (
    key TEXT PRIMARY KEY,
    at  INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
];

/**
 * Migrates the database to the version of this program. Does not change a file of another program or of a newer
 * version.
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
  // B1: a delegation happens exactly once, so a commit must survive a power loss.
  switchToWriteAheadLog(database);
  if (version === migrations.length) return;
  database.transaction(() => {
    // The version is read again, because another bridge may have migrated the database meanwhile.
    for (const migration of migrations.slice(versionOf(database, path))) database.exec(migration);
    database.exec(
      `PRAGMA application_id = ${String(APPLICATION_ID)}; PRAGMA user_version = ${String(migrations.length)};`,
    );
  });
}

function versionOf(database: Sqlite, path: string): number {
  return readSchemaVersion(database, path, { applicationId: APPLICATION_ID, name: "the bridge's" });
}
