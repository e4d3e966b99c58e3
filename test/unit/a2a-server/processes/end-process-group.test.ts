import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { endProcessGroup, isGroupAlive } from '../../../../a2a-server/processes/end-process-group.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { eventually } from '../tools/tool-in-workspace.ts';

const linux = process.platform === 'linux' ? describe : describe.skip;

const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** Starts a command that prints a number in its first line. Returns the number and the process. */
async function start(command: string, cwd = '/') {
  const child = spawn('/bin/sh', ['-c', command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    cwd,
  });
  started.push(child);
  const [first] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { child, pid: Number(first) };
}

linux('a process group', () => {
  it('a process group does not count a dead process that its parent has not waited for', async () => {
    // The program that replaces the shell never waits for its inherited child, like the first process of many
    // containers.
    const { child, pid } = await start(`setsid sh -c 'echo $$' & exec sleep 1000`);
    await eventually(async () =>
      /\) Z /u.test(await readFile(`/proc/${pid}/stat`, 'latin1')) ? true : undefined,
    );
    expect(process.kill(-pid, 0)).toBe(true);
    expect(await isGroupAlive(pid)).toBe(false);
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });

  it('a process group counts as running while one of its processes runs, with any process name', async () => {
    // The program's name looks like the fields after the name in /proc/<pid>/stat.
    const directory = await temporaryDirectory();
    await symlink('/bin/sleep', join(directory, 'x) Z 1 1'));
    const { child, pid } = await start(`echo $$; exec './x) Z 1 1' 1000`, directory);
    await eventually(async () =>
      (await readFile(`/proc/${pid}/stat`, 'latin1')).includes('(x) Z 1 1)') ? true : undefined,
    );
    expect(await isGroupAlive(pid)).toBe(true);
    const exited = once(child, 'exit');
    expect(await endProcessGroup(pid, { graceMs: 5000, clock: systemClock })).toBe('terminated');
    await exited;
    expect(await isGroupAlive(pid)).toBe(false);
    expect(await endProcessGroup(pid, { graceMs: 5000, clock: systemClock })).toBe('gone');
  });

  it('a process group is killed at the end of its grace period, even if the clock is set back meanwhile', async () => {
    const { child, pid } = await start(`trap '' TERM; echo $$; sleep 1000 & wait`);
    let now = Date.UTC(2026, 0, 1);
    const clock = { ...systemClock, now: () => (now -= 3_600_000) };
    const exited = once(child, 'exit');
    expect(await endProcessGroup(pid, { graceMs: 50, clock })).toBe('killed');
    await exited;
    expect(await isGroupAlive(pid)).toBe(false);
  });
});
