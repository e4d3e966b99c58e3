/**
 * Opens the journals that earlier versions have stored (test/fixtures/stored-state/README.md), and continues their tasks.
 */
import { describe, expect, it } from '@jest/globals';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { buildTaskRow } from '../../../a2a-server/journal/build-task-row.ts';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import { openPostgresJournal } from '../../../a2a-server/journal/postgres/postgres-journal.ts';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { pendingActions } from '../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import type { Decision } from '../../../shared/protocol/tool-approval.ts';
import { openSqlite } from '../../../shared/sqlite/driver.ts';
import { onPostgres } from '../../support/on-postgres.ts';
import {
  decisionMessage,
  startTaskService,
  untilIdle,
  untilSettled,
  type RunningService,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { modelsOf } from '../../support/model-settings.ts';

const FIXTURES = 'test/fixtures/stored-state';
/** The principal of a server's own token. */
const LOCAL = 'local';

const fixtures = (await readdir(FIXTURES)).filter((name) => name.endsWith('.sql'));
const versionsOf = (engine: string): number[] =>
  fixtures
    .flatMap((name) => new RegExp(`^${engine}-v(\\d+)\\.sql$`).exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);

/** @returns the SQL of a fixture, whose tasks work in the directory */
async function fixture(name: string, workspace: string): Promise<string> {
  return (await readFile(join(FIXTURES, name), 'utf8')).replaceAll('/srv/workspace', workspace);
}

/** The task that began with this message. */
async function taskOf(journal: Journal, messageId: string): Promise<string> {
  const command = await journal.command(LOCAL, messageId);
  if (command === undefined) throw new Error(`no task has the message ${messageId}`);
  return command.taskId;
}

const MESSAGES = [
  'completed',
  'rejected',
  'waiting',
  'asking',
  'canceled',
  'half-decided',
  'written',
  'interrupted',
];

/** Checks that each task agrees with its index, and has the state that the earlier version stored. */
async function expectWhole(journal: Journal): Promise<void> {
  const states: Record<string, string | undefined> = {};
  for (const messageId of MESSAGES) {
    const taskId = await taskOf(journal, messageId);
    const row = await journal.row(taskId);
    expect(row).toEqual(buildTaskRow(taskId, await journal.read(taskId, 0, 1_000)));
    states[messageId] = row?.state;
  }
  expect(states).toMatchObject({
    completed: 'completed',
    waiting: 'input-required',
    canceled: 'canceled',
    'half-decided': 'input-required',
    written: 'completed',
    interrupted: 'working',
  });
}

interface Continued {
  service: RunningService;
  journal: Journal;
  workspace: string;
}

/** Approves what waits, and denies the command whose outcome the kill left unknown. */
async function expectContinues({ service, journal, workspace }: Continued): Promise<void> {
  const { tasks } = service;
  await tasks.recover();
  await untilIdle(tasks);
  const snapshotOf = async (messageId: string): Promise<Snapshot> =>
    tasks.snapshot(await taskOf(journal, messageId), { principal: LOCAL });
  const decide = async (
    messageId: string,
    decision: Decision['decision'],
    more: Partial<Decision> = {},
  ): Promise<Snapshot> => {
    const saw = await snapshotOf(messageId);
    const [pending] = pendingActions(saw);
    expect([messageId, pending]).not.toContain(undefined);
    const callId = pending?.callId ?? '';
    const accepted = await tasks.send({
      ...decisionMessage(saw, { callId, decision, ...more }),
      principal: LOCAL,
    });
    return untilSettled(tasks, accepted, LOCAL);
  };

  expect((await decide('waiting', 'approve')).status.state).toBe('completed');
  expect((await decide('half-decided', 'approve')).status.state).toBe('completed');
  const interrupted = await snapshotOf('interrupted');
  expect(pendingActions(interrupted)).toMatchObject([{ reason: 'outcome-unknown' }]);
  expect((await decide('interrupted', 'deny')).status.state).toBe('completed');
  // The model of the first versions could not ask.
  if ((await snapshotOf('asking')).status.state === 'input-required')
    expect((await decide('asking', 'answer', { answer: 'blue' })).status.state).toBe('completed');

  for (const [name, content] of [
    ['test.md', 'hello'],
    ['first.md', 'first'],
    ['second.md', 'second'],
  ] as const)
    expect(await readFile(join(workspace, name), 'utf8')).toBe(content);
  expect(service.failures).toEqual([]);
}

async function query(url: string, text: string): Promise<unknown[][]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const results: unknown = await client.query({ text, rowMode: 'array' });
    return Array.isArray(results) ? [] : Object(results).rows;
  } finally {
    await client.end();
  }
}

const models = modelsOf();

describe('a journal in SQLite that an earlier version has written', () => {
  it('each version since the first has a fixture, except the 9th, which no program ever wrote alone', async () => {
    const path = join(await temporaryDirectory(), 'journal.db');
    await (await openSqliteJournal({ path, clock: () => 1 })).close();
    const database = openSqlite(path, { busyTimeoutMs: 0 });
    const newest = Number(database.query('PRAGMA user_version')()[0]?.[0]);
    database.close();
    const all = Array.from({ length: newest }, (_, index) => index + 1).filter((version) => version !== 9);
    expect(versionsOf('sqlite')).toEqual(all);
  });

  it.each(versionsOf('sqlite'))(
    'J1 J2 E2 version %i: the tasks are whole, what waits continues, and an interrupted command runs only if a person approves',
    async (version) => {
      const [stateDir, workspace] = [await temporaryDirectory(), await temporaryDirectory()];
      const path = join(stateDir, 'journal.db');
      const database = openSqlite(path, { busyTimeoutMs: 0 });
      database.exec(await fixture(`sqlite-v${version}.sql`, workspace));
      database.close();
      const journal = await openSqliteJournal({ path, clock: () => 1 });
      await expectWhole(journal);
      await journal.close();
      let opened: Journal | undefined;
      const between = (each: Journal): Journal => (opened = each);
      const service = await startTaskService({ stateDir, workspace, models, between });
      if (opened === undefined) throw new Error('the service has opened no journal');
      await expectContinues({ service, journal: opened, workspace });
    },
  );
});

onPostgres([], (server) =>
  describe('a journal in PostgreSQL that an earlier version has written', () => {
    it('each version since the first has a fixture, except the 6th, which no program ever wrote alone', async () => {
      const url = await server().createDatabase();
      await (await openPostgresJournal({ url })).close();
      const [[newest] = []] = await query(url, 'SELECT version FROM a2a_journal');
      const all = Array.from({ length: Number(newest) }, (_, index) => index + 1).filter(
        (each) => each !== 6,
      );
      expect(versionsOf('postgres')).toEqual(all);
    });

    it('the newest fixture has the function that writes appends as it is today, because only a new version replaces it', async () => {
      const functionIn = async (url: string): Promise<string> => {
        const [[source] = []] = await query(url, "SELECT prosrc FROM pg_proc WHERE proname = 'append_batch'");
        return String(source).replaceAll(/\s+/g, ' ');
      };
      const [stored, fresh] = [await server().createDatabase(), await server().createDatabase()];
      await query(stored, await fixture(`postgres-v${versionsOf('postgres').at(-1)}.sql`, '/srv/workspace'));
      await (await openPostgresJournal({ url: fresh })).close();
      expect(await functionIn(stored)).toBe(await functionIn(fresh));
    });

    it.each(versionsOf('postgres'))(
      'J1 J2 E2 version %i: the tasks are whole, what waits continues, and an interrupted command runs only if a person approves',
      async (version) => {
        const [stateDir, workspace] = [await temporaryDirectory(), await temporaryDirectory()];
        const url = await server().createDatabase();
        await query(url, await fixture(`postgres-v${version}.sql`, workspace));
        const journal = await openPostgresJournal({ url });
        await expectWhole(journal);
        const service = await startTaskService({ stateDir, workspace, models, journal });
        await expectContinues({ service, journal, workspace });
      },
    );
  }),
);
