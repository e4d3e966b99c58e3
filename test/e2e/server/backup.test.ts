/** Tests backups of the journal, and the start of a server whose journal has lost entries. */
import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { decisionOn } from '../../support/a2a-message.ts';
import { untilFileContains } from '../../support/file-watch.ts';
import { makeGate } from '../../support/gate.ts';
import { plan, shell, write } from '../../support/offline-plan.ts';
import { startServer, type ServerProcess } from '../../support/server-process.ts';
import { stage, stageOf, type Stage } from '../../support/stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli } from '../cli/support/cli.ts';

const PROGRAM = join(process.cwd(), 'dist', 'a2a-server', 'main.js');

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command of a2a-server on a state directory. */
function run(stateDir: string, ...args: string[]): Promise<Ran> {
  return runWith({}, stateDir, ...args);
}

function runWith(
  variables: Readonly<Record<string, string>>,
  stateDir: string,
  ...args: string[]
): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: stateDir, ...variables };
    execFile(
      process.execPath,
      [PROGRAM, ...args, '--state-dir', stateDir],
      { env },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    );
  });
}

const copied = z.looseObject({ tasks: z.number(), live: z.number(), contents: z.number() });
const checked = copied.extend({ ok: z.boolean(), problems: z.array(z.string()) });
const failed = z.object({ error: z.object({ reason: z.string(), message: z.string() }) });

const journalOf = ({ stateDir }: Pick<ServerProcess, 'stateDir'>): string => join(stateDir, 'journal.db');

/** Starts a server with waiting tasks, waits until the journal's mark names all of them, and kills the server. */
async function killedWithTasks(tasks: number): Promise<Stage> {
  const before = await stage();
  for (let task = 0; task < tasks; task += 1) {
    const stream = await before.peer.stream(`append "${task}" to a.txt`);
    await stream.parked();
  }
  await untilFileContains(`${journalOf(before.server)}.mark`, `"tasks":${tasks},`);
  await before.server.kill();
  return before;
}

async function flipBit(path: string, at: number): Promise<void> {
  const file = await open(path, 'r+');
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  await file.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, at);
  await file.close();
}

/**
 * Writes a module that runs a statement before each `renameSync(from, to)`.
 * @returns the environment variables that make a program load it
 */
async function beforeEachRename(directory: string, statement: string): Promise<Record<string, string>> {
  const fault = join(directory, 'fault.cjs');
  await writeFile(
    fault,
    `const fs = require('node:fs');
     const { renameSync } = fs;
     fs.renameSync = (from, to) => {
       ${statement}
       renameSync(from, to);
     };
     require('node:module').syncBuiltinESMExports();`,
  );
  return { NODE_OPTIONS: `--require ${fault}` };
}

describe('a backup of the server’s state', () => {
  it('R102 a backup that was made while tasks ran continues the same tasks in another directory', async () => {
    const { server, peer } = await stage();
    const saved = await peer.stream(plan(write('kept.txt', 'old'), write('kept.txt', 'new')), {
      settings: { autoExecute: true },
    });
    await saved.rest();
    const waiting = await (await peer.stream('append "x" to effects.txt')).parked();
    const gate = await makeGate(server.workspace);
    const running = await peer.stream(plan(shell(`echo running; ${gate.wait}`), { say: 'We end.' }), {
      settings: { autoExecute: true },
    });
    await running.output('running');
    const seen = await peer.task(waiting.taskId);
    const file = join(await temporaryDirectory(), 'tasks.backup');

    const home = await temporaryDirectory();
    const made = await cli(['server', 'backup', file, '--json', '--state-dir', server.stateDir], { home });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(copied.parse(JSON.parse(made.stdout))).toMatchObject({ tasks: 3, live: 2 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readFile(file)).includes(server.token)).toBe(false);
    await gate.pass();
    expect((await running.rest()).at(-1)?.state).toBe('COMPLETED');
    await server.stop();

    const stateDir = join(home, 'elsewhere');
    const restored = await cli(['server', 'restore', file, '--json', '--state-dir', stateDir], { home });
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    expect(copied.parse(JSON.parse(restored.stdout))).toEqual({
      ...copied.parse(JSON.parse(made.stdout)),
      file,
      stateDirectory: stateDir,
    });
    const after = stageOf(await startServer({ home: { stateDir, workspace: server.workspace } }));
    expect(after.server.token).not.toBe(server.token);
    expect(await after.peer.task(waiting.taskId)).toEqual(seen);
    const decided = await after.peer.decide(waiting.taskId, [decisionOn(waiting.pending, 'approve')]);
    expect((await decided.rest()).at(-1)?.state).toBe('COMPLETED');
    expect(await after.file('effects.txt')).toBe('x');
    // The command was running at the time of the backup. So the backup does not know the command's outcome.
    const { taskId = '' } = running.seen[0] ?? {};
    const { pending } = await (await after.peer.follow(taskId, 0)).parked();
    expect(pending).toMatchObject([{ reason: 'outcome-unknown' }]);
    const report = await run(stateDir, 'verify', '--json');
    expect(report.code).toBe(0);
    expect(checked.parse(JSON.parse(report.stdout))).toMatchObject({ ok: true, contents: 1, problems: [] });
  });

  it('R102 a restore overwrites no file, no state with tasks and no running server', async () => {
    const { server, peer } = await stage();
    await (await peer.stream('append "x" to a.txt')).parked();
    const file = join(await temporaryDirectory(), 'tasks.backup');
    expect((await run(server.stateDir, 'backup', file)).code).toBe(0);
    const second = await run(server.stateDir, 'backup', file, '--json');
    expect(second.code).toBe(78);
    expect(failed.parse(JSON.parse(second.stdout)).error.message).toContain('exists');

    await (await peer.stream('append "y" to a.txt')).parked();
    expect(await run(server.stateDir, 'restore', file, '--replace')).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('already uses the journal'),
    });
    await server.stop();
    expect(await run(server.stateDir, 'restore', file)).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/has 2 tasks.*--replace/),
    });
    expect(await run(server.stateDir, 'restore', file, '--replace')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/1 task .*earlier journal is in .*replaced-/),
    });
    expect(await stageOf(await server.again()).peer.list({})).toHaveLength(1);
  });

  it('R102 a restore is refused if the server’s lock file was deleted, and that server accepts no lost entries', async () => {
    const { server, peer } = await stage();
    await (await peer.stream('append "x" to a.txt')).parked();
    const file = join(await temporaryDirectory(), 'tasks.backup');
    expect((await run(server.stateDir, 'backup', file)).code).toBe(0);
    await untilFileContains(`${journalOf(server)}.mark`, '"tasks":1');
    for (const command of [
      ['restore', file, '--replace'],
      ['verify', '--accept-loss'],
    ]) {
      await rm(`${journalOf(server)}.owner`);
      expect(await run(server.stateDir, ...command)).toMatchObject({
        code: 78,
        stderr: expect.stringContaining('already uses the journal'),
      });
    }
    expect(await peer.list({})).toHaveLength(1);
  });

  it('R102 if a restore fails in the middle, the error names the directory of the earlier journal', async () => {
    const { server, peer } = await stage();
    await (await peer.stream('append "x" to a.txt')).parked();
    const directory = await temporaryDirectory();
    const file = join(directory, 'tasks.backup');
    await run(server.stateDir, 'backup', file);
    await server.stop();
    // With this fault, the rename of the backup fails.
    const failing = await beforeEachRename(
      directory,
      "if (to.endsWith('/journal.db') && !to.includes('replaced-')) throw new Error('EIO: i/o error, rename');",
    );
    const { code, stdout } = await runWith(failing, server.stateDir, 'restore', file, '--replace', '--json');
    expect(code).toBe(1);
    const { message } = failed.parse(JSON.parse(stdout)).error;
    const [moved = ''] = (await readdir(server.stateDir)).filter((name) => name.startsWith('replaced-'));
    expect(message).toContain(
      `EIO: i/o error, rename. The earlier journal is in ${join(server.stateDir, moved)}.`,
    );
    expect(await readdir(join(server.stateDir, moved))).toContain('journal.db');

    expect((await run(server.stateDir, 'restore', file)).code).toBe(0);
    expect(await stageOf(await server.again()).peer.list({})).toHaveLength(1);
  });

  it('R102 after a restore that was killed in the middle, the next one keeps all files of the earlier journal', async () => {
    const { server, peer } = await stage();
    await (await peer.stream('append "x" to a.txt')).parked();
    const directory = await temporaryDirectory();
    const file = join(directory, 'tasks.backup');
    await run(server.stateDir, 'backup', file);
    await server.kill();
    const log = await readFile(`${journalOf(server)}-wal`);
    expect(log.length).toBeGreaterThan(0);
    // With this fault, the process dies before it moves the write-ahead log.
    const dying = await beforeEachRename(
      directory,
      "if (from.endsWith('-wal')) process.kill(process.pid, 'SIGKILL');",
    );
    await runWith(dying, server.stateDir, 'restore', file, '--replace');
    expect((await run(server.stateDir, 'restore', file)).code).toBe(0);
    const moved = (await readdir(server.stateDir)).filter((name) => name.startsWith('replaced-'));
    const kept = await Promise.all(moved.map((name) => readdir(join(server.stateDir, name))));
    expect(kept.flat()).toEqual(expect.arrayContaining(['journal.db', 'journal.db-wal']));
  });

  it('R102 a damaged backup is not restored, and verify reports the damage', async () => {
    const { server, peer } = await stage();
    await (await peer.stream('append "x" to a.txt')).parked();
    const directory = await temporaryDirectory();
    const file = join(directory, 'tasks.backup');
    await run(server.stateDir, 'backup', file);
    const text = (await readFile(file)).indexOf('input.required');
    await flipBit(file, text);
    const report = await run(server.stateDir, 'verify', file, '--json');
    expect(report.code).toBe(1);
    expect(checked.parse(JSON.parse(report.stdout))).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('task')],
    });
    const elsewhere = join(directory, 'elsewhere');
    expect(await run(elsewhere, 'restore', file)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('is damaged, so it is not used'),
    });
    expect((await readdir(elsewhere)).filter((name) => /journal\.db(?!\.owner)|draft/.test(name))).toEqual(
      [],
    );
    await writeFile(file, 'no database '.repeat(1_000));
    expect((await run(elsewhere, 'restore', file)).code).toBe(78);
    expect(await run(elsewhere, 'restore', directory)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining(`There is no file ${directory}`),
    });
    await writeFile(file, '');
    expect(await run(elsewhere, 'restore', file)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('is empty, so it is not used'),
    });
  });
});

describe('a start of the server with a damaged journal', () => {
  it('R102 a server whose write-ahead log has a flipped bit reports the missing entries, and serves no request', async () => {
    const { server } = await killedWithTasks(6);
    const log = `${journalOf(server)}-wal`;
    const { size } = await stat(log);
    await flipBit(log, Math.floor(size / 2));
    const damaged = await readFile(log);
    const refusal = /is damaged: \d tasks? (is|are) missing.*restore <file>.*--accept-loss/s;
    await expect(server.again()).rejects.toThrow(refusal);
    expect((await readFile(`${log}.damaged`)).equals(damaged)).toBe(true);
    // The server refuses every later start with the same error.
    const again = await run(server.stateDir, '--port', '0');
    expect(again).toMatchObject({ code: 78, stderr: expect.stringMatching(refusal) });
    const report = await run(server.stateDir, 'verify', '--json');
    expect(report.code).toBe(1);
    expect(checked.parse(JSON.parse(report.stdout)).problems).toEqual([expect.stringMatching(/missing/)]);

    expect(await run(server.stateDir, 'verify', '--accept-loss')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/starts without the missing data: \d task/),
    });
    const { peer } = stageOf(await server.again());
    expect((await peer.list({})).length).toBeLessThan(6);
  });

  it.each([
    ['is shortened', (path: string) => truncate(path, 4_096)],
    ['is gone', (path: string) => rm(path)],
  ])('R102 a server with a journal that %s reports this, and serves no request', async (_, damage) => {
    const { server, peer } = await stage();
    await (await peer.stream('append "x" to a.txt')).parked();
    await server.stop();
    const path = journalOf(server);
    await damage(path);
    await expect(server.again()).rejects.toThrow(
      /is damaged: the file .*had \d+\s*bytes|is damaged: the file has/,
    );
    expect((await run(server.stateDir, '--port', '0')).code).toBe(78);
  });

  it('R102 a server that starts after a kill without damage reports nothing', async () => {
    const { server } = await killedWithTasks(2);
    const { peer } = stageOf(await server.again());
    expect(await peer.list({})).toHaveLength(2);
    expect((await run(server.stateDir, 'verify')).stdout).toMatch(/is not damaged: 2 tasks \(2 not ended\)/);
  });

  it('R102 a server ignores a mark that it cannot read, because such a mark names no entries', async () => {
    const { server } = await killedWithTasks(1);
    await writeFile(`${journalOf(server)}.mark`, '{"version":1,"tas');
    expect(await stageOf(await server.again()).peer.list({})).toHaveLength(1);
  });
});
