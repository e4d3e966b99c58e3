/** Tests that a server records its child processes, and that the next server ends them. The processes are real. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  createChildProcessRecords,
  type OrphanProcess,
} from '../../../../a2a-server/processes/child-process-records.ts';
import { isGroupAlive } from '../../../../a2a-server/processes/end-process-group.ts';
import { findMarkedProcessGroups } from '../../../../a2a-server/processes/process-identity.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const posix = process.platform === 'win32' ? describe.skip : describe;
const linux = process.platform === 'linux' ? it : it.skip;

const started: ChildProcess[] = [];

afterEach(() => {
  for (const { pid } of started.splice(0)) {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // Resolves when the process has ended.
    }
  }
});

/** Starts a shell that leads a process group. Resolves when the shell has printed `ready`. */
async function group(script: string, env: Readonly<Record<string, string>> = {}): Promise<number> {
  const child = spawn('/bin/sh', ['-c', script], {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  started.push(child);
  await once(child.stdout, 'data');
  if (child.pid === undefined) throw new Error('the shell has no process id');
  return child.pid;
}

function serverOn(directory: string, graceMs = 5_000) {
  const orphans: [OrphanProcess, string][] = [];
  const children = createChildProcessRecords({
    directory,
    clock: systemClock,
    graceMs,
    onOrphan: (orphan, end) => orphans.push([orphan, end]),
  });
  return { children, orphans };
}

const OWNER = { type: 'tool-execution', toolId: 'run-shell-command-1-a' } as const;

/** Leaves the records of a process group, as a killed server does. */
async function recorded(directory: string, script: string): Promise<number> {
  const { children } = serverOn(directory);
  const entry = children.entry(OWNER);
  const leader = await group(script, entry.env);
  await entry.record(leader);
  return leader;
}

/** Returns the environment variable that the child of this record inherits. */
const markerOf = (record: string): string => `A2A_SERVER_CHILD=${record.replace('.json', '')}`;

async function changeRecord(directory: string, change: (text: string) => string): Promise<void> {
  const [name = ''] = await readdir(directory);
  await writeFile(join(directory, name), change(await readFile(join(directory, name), 'utf8')));
}

posix('child processes', () => {
  it('R94 the next server ends a process group that a killed server left, with its grandchildren', async () => {
    const directory = await temporaryDirectory();
    const leader = await recorded(directory, '(sleep 90 & sleep 90) & echo ready; sleep 90');
    const { children, orphans } = serverOn(directory);
    expect(await children.endOrphans()).toEqual([]);
    expect(await isGroupAlive(leader)).toBe(false);
    expect(orphans).toEqual([[{ owner: OWNER, group: leader }, 'ended']]);
    expect(await readdir(directory)).toEqual([]);
  });

  it('R94 a process group that ignores SIGTERM is killed after the grace period', async () => {
    const directory = await temporaryDirectory();
    const leader = await recorded(directory, "trap '' TERM; echo ready; while :; do sleep 1; done");
    const { children } = serverOn(directory, 50);
    expect(await children.endOrphans()).toEqual([]);
    expect(await isGroupAlive(leader)).toBe(false);
  });

  linux('R94 members are ended after their leader has gone', async () => {
    const directory = await temporaryDirectory();
    const leader = await recorded(directory, '(trap "" HUP; sleep 90) & echo ready; read x < /dev/zero');
    process.kill(leader, 'SIGKILL');
    await once(started[0] ?? process, 'exit');
    expect(await isGroupAlive(leader)).toBe(true);
    const { children } = serverOn(directory);
    expect(await children.endOrphans()).toEqual([]);
    expect(await isGroupAlive(leader)).toBe(false);
  });

  linux('R94 a program that has left the group of its command is ended too', async () => {
    const directory = await temporaryDirectory();
    const leader = await recorded(directory, 'setsid sleep 90 & echo ready; read x < /dev/zero');
    const { children } = serverOn(directory);
    const [record = ''] = await readdir(directory);
    const marker = markerOf(record);
    while (findMarkedProcessGroups(marker).every((each) => each === leader)) await nextTurn();
    process.kill(-leader, 'SIGKILL');
    expect(await children.endOrphans()).toEqual([]);
    expect(findMarkedProcessGroups(marker)).toEqual([]);
  });

  linux(
    'R94 a group whose leader has gone and whose members are not known is named, and not touched',
    async () => {
      const directory = await temporaryDirectory();
      const leader = await recorded(directory, 'env -i sleep 90 & echo ready; read x < /dev/zero');
      process.kill(leader, 'SIGKILL');
      await once(started[0] ?? process, 'exit');
      const [record = ''] = await readdir(directory);
      // The child has the variable until `env` replaces its environment.
      while (findMarkedProcessGroups(markerOf(record)).includes(leader)) await nextTurn();
      const { children } = serverOn(directory);
      expect(await children.endOrphans()).toEqual([{ owner: OWNER, group: leader }]);
      expect(await isGroupAlive(leader)).toBe(true);
      process.kill(-leader, 'SIGKILL');
      // The signal takes effect only after the call returns.
      while (await isGroupAlive(leader)) await nextTurn();
      expect(await children.endOrphans()).toEqual([]);
      expect(await readdir(directory)).toEqual([]);
    },
  );

  it('R94 a process with the same id but another start time is not killed', async () => {
    const directory = await temporaryDirectory();
    const leader = await recorded(directory, 'echo ready; sleep 90');
    await changeRecord(directory, (text) => text.replace(/"started":"[^"]*"/u, '"started":"1"'));
    const { children, orphans } = serverOn(directory);
    expect(await children.endOrphans()).toEqual([]);
    expect(await isGroupAlive(leader)).toBe(true);
    expect(orphans).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
  });

  linux('R94 a record of another boot ends nothing', async () => {
    const directory = await temporaryDirectory();
    const leader = await recorded(directory, 'echo ready; sleep 90');
    await changeRecord(directory, (text) => text.replace(/"boot":"[^"]*"/u, '"boot":"another"'));
    expect(await serverOn(directory).children.endOrphans()).toEqual([]);
    expect(await isGroupAlive(leader)).toBe(true);
  });

  it('a server does not end its own running processes as orphans, and deletes the records of processes that have ended', async () => {
    const directory = await temporaryDirectory();
    const { children } = serverOn(directory);
    const entry = children.entry(OWNER);
    const leader = await group('echo ready; sleep 90', entry.env);
    await entry.record(leader);
    expect(await children.endOrphans()).toEqual([]);
    expect(await isGroupAlive(leader)).toBe(true);
    entry.forget();
    expect(await readdir(directory)).toEqual([]);
  });

  it('the server removes a process record that a crash left incomplete', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'a.json'), '{"id":');
    expect(await serverOn(directory).children.endOrphans()).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
  });
});
