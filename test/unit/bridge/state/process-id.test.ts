import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { isRunning, ownProcessId } from '../../../../bridge/state/process-id.ts';
import { endedProcessId } from '../../../support/bridge-database.ts';

describe('a process id', () => {
  test('the id names this process while it runs', async () => {
    expect(await isRunning(await ownProcessId())).toBe(true);
  });

  test('the id names neither an ended process nor another process with the same pid', async () => {
    expect(await isRunning(await endedProcessId())).toBe(false);
    const own = await ownProcessId();
    if (!own.endsWith('-x')) expect(await isRunning(`${String(process.pid)}-00000000zzz`)).toBe(false);
  });

  test('R99 the id does not name a killed process whose parent has not read its exit code', async () => {
    if (process.platform !== 'linux') return;
    // The shell becomes `sleep`, which never reads the exit code of the inherited child.
    const parent = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [chunk]: unknown[] = await once(parent.stdout, 'data');
      const pid = Number(String(chunk));
      // Before this change, the shell may still read the exit code.
      while ((await readFile(`/proc/${String(parent.pid)}/comm`, 'utf8')) !== 'sleep\n');
      process.kill(pid, 'SIGKILL');
      while (!/\) Z /.test(await readFile(`/proc/${String(pid)}/stat`, 'utf8')));
      expect(await isRunning(`${String(pid)}-x`)).toBe(false);
    } finally {
      parent.kill('SIGKILL');
    }
  });

  test('an invalid process id names no process', async () => {
    expect(await isRunning('')).toBe(false);
    expect(await isRunning('abc')).toBe(false);
  });
});
