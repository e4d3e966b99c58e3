/** Tests checkpoints with real files and a real journal. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import { openSqlite } from '../../../shared/sqlite/driver.ts';
import { checkpointsOf } from '../../../a2a-server/task/compute-checkpoints.ts';
import { pendingActions } from '../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import type { Preview } from '../../../shared/protocol/call-view.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { append, plan, shell, type PlannedStep } from '../../support/offline-plan.ts';
import {
  commandMessage,
  decisionMessage,
  messageOf,
  untilSettled,
  startTaskService,
  type RunningService,
  sendUntilSettled,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { modelsOf } from '../../support/model-settings.ts';

let stateDir: string;
let workspace: string;
let service: RunningService;

const start = (between: (journal: Journal) => Journal = (journal) => journal): Promise<RunningService> =>
  startTaskService({
    stateDir,
    workspace,
    between,
    models: modelsOf(),
  });

beforeEach(async () => {
  stateDir = await temporaryDirectory();
  workspace = await temporaryDirectory();
  service = await start();
});

const file = (name: string): string => join(workspace, name);
const textOf = (name: string): Promise<string | undefined> =>
  readFile(file(name), 'utf8').catch(() => undefined);

async function did(...steps: PlannedStep[]): Promise<Snapshot> {
  const { tasks } = service;
  const done = await sendUntilSettled(tasks, messageOf(plan(...steps), { settings: { autoExecute: true } }));
  expect(done.status.state).toBe('completed');
  return done;
}

/** Runs a command until its task waits or ends. */
async function command(line: string, more: Parameters<typeof messageOf>[1] = {}): Promise<Snapshot> {
  const { tasks } = service;
  const [name = '', ...args] = line.split(' ');
  return sendUntilSettled(tasks, commandMessage(name, args, more));
}

async function decided(task: Snapshot, decision: 'approve' | 'deny'): Promise<Snapshot> {
  const calls = pendingActions(task).map(({ callId }) => ({ callId, decision }));
  return sendUntilSettled(service.tasks, decisionMessage(task, ...calls));
}

/** The agent's last text. */
function said({ exchanges, status }: Snapshot): string {
  const last = exchanges.findLast((exchange) => exchange.type === 'turn');
  const text = last?.type === 'turn' ? last.turn.text : '';
  return 'message' in status && status.message !== undefined ? `${text}${status.message}` : text;
}

function diffOf(task: Snapshot): Extract<Preview, { type: 'diff' }> {
  const [call] = pendingActions(task);
  if (call?.preview.type !== 'diff') throw new Error('no diff is shown');
  return call.preview;
}

function checkpointIn(task: Snapshot): string {
  const [checkpoint] = checkpointsOf(task);
  if (checkpoint === undefined) throw new Error('the task has no checkpoint');
  return checkpoint.id;
}

const write = (path: string, content: string) => ({ tool: 'write-file', input: { path, content } });

describe('a checkpoint', () => {
  it('the server lists and shows a checkpoint; after an approval it restores contents and permissions, and removes new files', async () => {
    await writeFile(file('kept.sh'), 'echo one\n');
    await chmod(file('kept.sh'), 0o750);
    const task = await did({ together: [write('kept.sh', 'echo two\n'), write('new.txt', 'new')] });
    const id = checkpointIn(task);

    const list = said(await command('checkpoint list'));
    expect(list).toContain('kept.sh (changed), new.txt (created)');
    expect(list).toContain(id.replace('task-', '').slice(0, 8));
    expect(said(await command(`checkpoint show ${id}`))).toMatch(/-echo one\n\+echo two/);

    const asked = await command(`checkpoint restore ${id}`);
    expect(asked.status).toMatchObject({
      state: 'input-required',
      pending: [{ tool: 'restore-checkpoint', preview: { type: 'diff', path: '2 files' } }],
    });
    expect(JSON.stringify(asked.status)).toContain('-echo two\\n+echo one');
    expect(await textOf('kept.sh')).toBe('echo two\n');

    const restored = await decided(asked, 'approve');
    expect(restored.status.state).toBe('completed');
    expect(said(restored)).toBe('Restored 2 files: kept.sh, new.txt (removed).');
    expect(await textOf('kept.sh')).toBe('echo one\n');
    expect((await stat(file('kept.sh'))).mode & 0o777).toBe(0o750);
    expect(await textOf('new.txt')).toBeUndefined();

    // A restoration is a change like any other. So it can be undone.
    await decided(await command(`checkpoint restore ${checkpointIn(restored)}`), 'approve');
    expect([await textOf('kept.sh'), await textOf('new.txt')]).toEqual(['echo two\n', 'new']);
  });

  it('a restoration restores deleted files with their permissions, and moved files, and reports each file that it cannot restore', async () => {
    await mkdir(file('d/e'), { recursive: true });
    await writeFile(file('d/run.sh'), 'run');
    await chmod(file('d/run.sh'), 0o751);
    await writeFile(file('d/e/raw'), Buffer.from([0, 1, 2]));
    await symlink('run.sh', file('d/link'));
    await writeFile(file('old'), 'moved');
    const task = await did({
      together: [
        { tool: 'delete-file', input: { path: 'd', recursive: true } },
        { tool: 'move-file', input: { path: 'old', to: 'far/new' } },
      ],
    });
    expect(await textOf('far/new')).toBe('moved');
    const asked = await command(`checkpoint restore ${checkpointIn(task)}`);
    expect(JSON.stringify(asked.status)).toContain('# d/e/raw: no file → 3 bytes, not shown');
    const done = await decided(asked, 'approve');
    expect(said(done)).toContain('Not restored: d/link (not saved: a link).');
    expect([await textOf('d/run.sh'), await textOf('old')]).toEqual(['run', 'moved']);
    expect((await stat(file('d/run.sh'))).mode & 0o777).toBe(0o751);
    expect(await readFile(file('d/e/raw'))).toEqual(Buffer.from([0, 1, 2]));
    expect(await textOf('far/new')).toBeUndefined();
  });

  it('R21 one step restores a checkpoint with all later turns, also of other tasks, and a further restoration undoes that step', async () => {
    await writeFile(file('a.txt'), '0');
    const first = await did(append('a.txt', '1'));
    await did({ together: [append('a.txt', '2'), write('new.txt', 'new')] });
    await did(append('a.txt', '3'));
    const asked = await command(`checkpoint restore-since ${checkpointIn(first)}`);
    expect(asked.status).toMatchObject({
      pending: [{ tool: 'restore-checkpoint', preview: { type: 'diff', path: '2 files' } }],
    });
    expect(JSON.stringify(asked.status)).toMatch(/-0123.*\+0/);
    const restored = await decided(asked, 'approve');
    expect(said(restored)).toBe('Restored 2 files: a.txt, new.txt (removed).');
    expect([await textOf('a.txt'), await textOf('new.txt')]).toEqual(['0', undefined]);
    await decided(await command(`checkpoint restore ${checkpointIn(restored)}`), 'approve');
    expect([await textOf('a.txt'), await textOf('new.txt')]).toEqual(['0123', 'new']);
    // Restorations are turns too. So `restore-since` also undoes them.
    await decided(await command(`restore-since ${checkpointIn(first)}`), 'approve');
    expect([await textOf('a.txt'), await textOf('new.txt')]).toEqual(['0', undefined]);
  });

  it('a checkpoint restoration does not overwrite a change that a person made between two turns', async () => {
    const first = await did({ together: [append('a.txt', '1'), append('b.txt', '1')] });
    await writeFile(file('b.txt'), 'mine');
    await did(append('b.txt', '2'));
    const refused = await command(`checkpoint restore-since ${checkpointIn(first)}`);
    expect(refused.status).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('1 of 2 files have changed since: b.txt. A person or a command'),
    });
    expect([await textOf('a.txt'), await textOf('b.txt')]).toEqual(['1', 'mine2']);
  });

  it('a checkpoint restoration does not overwrite a change that a person made between two calls of the turn', async () => {
    await writeFile(file('a.txt'), '0');
    const { tasks } = service;
    const both = plan({ together: [append('a.txt', '1'), append('a.txt', '2')] });
    const asked = await sendUntilSettled(tasks, messageOf(both));
    const waiting = await decided(asked, 'approve');
    expect(waiting.status).toMatchObject({ pending: [{ reason: 'content-changed' }] });
    await writeFile(file('a.txt'), 'mine');
    const again = await decided(waiting, 'approve');
    expect(again.status).toMatchObject({ pending: [{ reason: 'content-changed' }] });
    const done = await decided(again, 'approve');
    expect([done.status.state, await textOf('a.txt')]).toEqual(['completed', 'mine2']);
    const refused = await command(`checkpoint restore ${checkpointIn(done)}`);
    expect(refused.status).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('1 of 1 files have changed since: a.txt.'),
    });
    expect(await textOf('a.txt')).toBe('mine2');
  });

  it('D2 if another turn follows between the question and the approval, the server asks about the restoration again', async () => {
    const first = await did(append('a.txt', '1'));
    const asked = await command(`restore-since ${checkpointIn(first)}`);
    await did(append('b.txt', '2'));
    const again = await decided(asked, 'approve');
    expect(again.status).toMatchObject({
      pending: [{ reason: 'content-changed', preview: { path: '2 files' } }],
    });
    expect([await textOf('a.txt'), await textOf('b.txt')]).toEqual(['1', '2']);
  });

  it('D5 the question about a restoration names every file, also those whose diffs are too long', async () => {
    const long = 'x'.repeat(150_000);
    const files = [write('a', long), write('b', long), write('c\n+forged', 'short')];
    const asked = await command(`checkpoint restore ${checkpointIn(await did({ together: files }))}`);
    const { diff } = diffOf(asked);
    expect(diff).toContain('--- a/a\n');
    expect(diff).toContain('# b: 150000 bytes → no file, not shown\n');
    expect(diff).toContain('--- "a/c\\n+forged"\n');
    expect(diff).not.toContain('\n+forged');
  });

  it('a restoration that a person denies changes no file, and the task says so', async () => {
    const id = checkpointIn(await did(append('a.txt', 'one')));
    const denied = await decided(await command(`restore ${id}`), 'deny');
    expect(denied.status.state).toBe('completed');
    expect(said(denied)).toContain('denied');
    expect(await textOf('a.txt')).toBe('one');
  });

  it('the server refuses a restoration if a person has changed its files since the checkpoint, and the error names the files', async () => {
    const id = checkpointIn(await did({ together: [append('a.txt', 'one'), append('b.txt', 'one')] }));
    await writeFile(file('b.txt'), 'mine');
    const refused = await command(`checkpoint restore ${id}`);
    expect(refused.status).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(/1 of 2 files have changed since: b\.txt\..*"checkpoint restore-since"/),
    });
    expect([await textOf('a.txt'), await textOf('b.txt')]).toEqual(['one', 'mine']);
  });

  it('X3 the error of a refused restoration names at most twenty files, and the number of the others', async () => {
    const names = Array.from({ length: 22 }, (_, index) => `${index}.txt`);
    const id = checkpointIn(await did({ together: names.map((name) => append(name, 'one')) }));
    for (const name of names) await writeFile(file(name), 'mine');
    const refused = await command(`checkpoint restore ${id}`);
    expect(refused.status).toMatchObject({
      message: expect.stringMatching(
        /22 of 22 files have changed since: (?:\d+\.txt, ){19}\d+\.txt and 2 more\./,
      ),
    });
  });

  it('D2 if a file changes between the question and the approval, the server asks about the restoration again', async () => {
    await writeFile(file('a.txt'), '0');
    const task = await did({ together: [append('a.txt', '1'), append('a.txt', '2')] });
    const asked = await command(`checkpoint restore ${checkpointIn(task)}`);
    // The file had this content between the turn's two writes. The person was shown another content.
    await writeFile(file('a.txt'), '01');
    const again = await decided(asked, 'approve');
    expect(again.status).toMatchObject({ pending: [{ reason: 'content-changed' }] });
    expect(await textOf('a.txt')).toBe('01');
    expect((await decided(again, 'approve')).status.state).toBe('completed');
    expect(await textOf('a.txt')).toBe('0');
  });

  it('the list of a checkpoint names the commands that ran in the turn, because no checkpoint has their changes', async () => {
    await did({ together: [append('a.txt', 'one'), shell('echo two > b.txt')] });
    const list = said(await command('checkpoint list'));
    expect(list).toContain('a.txt (created); commands ran in this turn: ');
    expect(list).toContain('echo two > b.txt');
    expect(list).not.toContain('b.txt (');
  });

  it('a checkpoint survives a restart: the journal has the saved files and the principal', async () => {
    await writeFile(file('a.txt'), 'before');
    const asked = await command(`checkpoint restore ${checkpointIn(await did(write('a.txt', 'after')))}`);
    await service.stop();
    service = await start();
    await service.tasks.recover();
    expect((await decided(asked, 'approve')).status.state).toBe('completed');
    expect(await textOf('a.txt')).toBe('before');
  });

  it('R21 after an approval, the next process completes an interrupted restoration', async () => {
    const names = ['a.txt', 'b.txt', 'c.txt'];
    for (const name of names) await writeFile(file(name), 'before');
    const id = checkpointIn(await did({ together: names.map((name) => write(name, 'after')) }));
    await service.stop();

    // From the second file on, appends fail, as if the process had died.
    let recorded = 0;
    const died = new Deferred<void>();
    service = await start((journal) => {
      const appended = journal.append.bind(journal);
      journal.append = async (wanted) => {
        recorded += wanted.events.filter(({ type }) => type === 'files.saved').length;
        if (recorded < 2) return appended(wanted);
        if (wanted.events.some(({ type }) => type === 'tool.finished')) died.resolve();
        throw new ProductError('STORAGE', 'The process has died.');
      };
      return journal;
    });
    const asked = await command(`restore ${id}`);
    const accepted = await service.tasks.send(decisionMessage(asked, { decision: 'approve' }));
    await died.promise;
    await service.stop();
    expect(await Promise.all(names.map(textOf))).toEqual(['before', 'after', 'after']);

    service = await start();
    await service.tasks.recover();
    const doubt = await untilSettled(service.tasks, accepted);
    expect(doubt.status).toMatchObject({ pending: [{ reason: 'outcome-unknown' }] });
    const changed = await decided(doubt, 'approve');
    // The person must see the rest of the restoration before it runs.
    expect(changed.status).toMatchObject({
      pending: [{ reason: 'content-changed', preview: { path: '2 files' } }],
    });
    const done = await decided(changed, 'approve');
    expect(said(done)).toBe('Restored 2 files: b.txt, c.txt. Not restored: a.txt (unchanged).');
    expect(await Promise.all(names.map(textOf))).toEqual(['before', 'before', 'before']);
  });

  it('for another principal, a checkpoint does not exist', async () => {
    const id = checkpointIn(await did(append('a.txt', 'one')));
    const { tasks } = service;
    const shown = await tasks.send(commandMessage('checkpoint show', [id], { principal: 'eve' }));
    expect((await untilSettled(tasks, shown, 'eve')).status).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('There are none yet'),
    });
  });

  it('a checkpoint of another workspace cannot be restored into this workspace', async () => {
    const other = await temporaryDirectory();
    const id = checkpointIn(await did(append('a.txt', 'one')));
    const refused = await command(`restore ${id}`, { settings: { workspace: other } });
    expect(refused.status).toMatchObject({ state: 'failed', message: expect.stringContaining(workspace) });
    expect(said(await command('checkpoint list', { settings: { workspace: other } }))).toContain(
      'Other workspaces have 1 more checkpoint.',
    );
  });

  it('if a part of a checkpoint’s content is lost, the server restores no part of the checkpoint', async () => {
    await writeFile(file('b.txt'), 'before');
    const task = await did({ together: [append('a.txt', 'one'), append('b.txt', 'two')] });
    const database = openSqlite(join(stateDir, 'journal.db'), { busyTimeoutMs: 1_000 });
    database.exec("UPDATE contents SET bytes = x'00'");
    database.close();
    const refused = await command(`restore ${checkpointIn(task)}`);
    expect(refused.status).toMatchObject({ state: 'failed', message: expect.stringContaining('"b.txt"') });
    expect(await textOf('a.txt')).toBe('one');
  });
});

describe('the saved content of a checkpoint', () => {
  it('X1 only its owner can read the saved content', async () => {
    await writeFile(file('a.txt'), 'secret');
    await did(write('a.txt', 'other'));
    // The list omits the mark's temporary file, because that file may disappear at any time.
    const files = (await readdir(stateDir)).filter((entry) => /^journal\.db(?!\.mark\.)/.test(entry));
    for (const name of files) expect((await stat(join(stateDir, name))).mode & 0o777).toBe(0o600);
  });

  it('E2 one append writes the saved content, the start of the tool and the decision to the journal', async () => {
    await writeFile(file('a.txt'), 'before');
    await service.stop();
    const appends: string[][] = [];
    service = await start((journal) => {
      const appended = journal.append.bind(journal);
      journal.append = (wanted) => {
        appends.push(wanted.events.map(({ type }) => type));
        return appended(wanted);
      };
      return journal;
    });
    const asked = await sendUntilSettled(service.tasks, messageOf(plan(write('a.txt', 'after'))));
    appends.length = 0;
    expect((await decided(asked, 'approve')).status.state).toBe('completed');
    expect(appends[0]).toEqual(['tool.decided', 'task.working', 'tool.started', 'files.saved']);
    expect(appends.flat().filter((type) => type === 'tool.started')).toHaveLength(1);
  });

  it('the server saves the content before the change: if it cannot save the content, nothing changes', async () => {
    await writeFile(file('a.txt'), 'before');
    await service.stop();
    service = await start((journal) => {
      const appended = journal.append.bind(journal);
      journal.append = (wanted) =>
        (wanted.contents ?? []).length === 0
          ? appended(wanted)
          : Promise.reject(new ProductError('STORAGE', 'the disk is full'));
      return journal;
    });
    const { tasks } = service;
    const sent = messageOf(plan(write('a.txt', 'after')), { settings: { autoExecute: true } });
    const done = await sendUntilSettled(tasks, sent);
    expect(Object.values(done.calls)).toMatchObject([
      { state: { result: { outcome: { type: 'error', message: expect.stringContaining('disk is full') } } } },
    ]);
    expect(await textOf('a.txt')).toBe('before');
  });
});

describe('a command for the server', () => {
  it('an unknown command is refused with its name, and no task starts', async () => {
    await expect(command('chekpoint list')).rejects.toMatchObject({
      reason: 'UNKNOWN_COMMAND',
      message: expect.stringMatching(/"chekpoint list".*init, checkpoint list, .*help/),
    });
    await expect(command('checkpoint restore')).rejects.toMatchObject({
      reason: 'MALFORMED',
      message: expect.stringContaining('checkpoint restore <id>'),
    });
    expect((await service.tasks.list({ principal: 'ada' }, { size: 9 })).rows).toEqual([]);
  });

  it('a command starts its own task: it is refused while a task of the session runs; afterwards the session continues', async () => {
    const { tasks } = service;
    const asking = await sendUntilSettled(tasks, messageOf(plan(append('a.txt', 'one'))));
    const { sessionId } = asking;
    await expect(command('help', { sessionId })).rejects.toMatchObject({ reason: 'SESSION_BUSY' });
    await decided(asking, 'approve');
    const helped = await command('help', { sessionId });
    expect(helped).toMatchObject({ sessionId, status: { state: 'completed' } });
    expect(said(helped)).toContain('- checkpoint restore <id>: ');
    const { rows } = await tasks.list({ principal: 'ada', sessionId }, { size: 9 });
    expect(rows[0]?.title).toBe('/help');
    // The session's next message goes to the model again.
    const next = await sendUntilSettled(tasks, messageOf('say "back"', { sessionId }));
    expect(next.exchanges.at(-1)).toMatchObject({ turn: { model: 'offline' } });
  });

  it('R27 a command whose message arrives twice with the same id starts one task', async () => {
    const sent = commandMessage('help', []);
    const { tasks } = service;
    const [one, two] = await Promise.all([tasks.send(sent), tasks.send(sent)]);
    expect(two.taskId).toBe(one.taskId);
  });
});
