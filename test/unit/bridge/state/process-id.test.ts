import { describe, expect, test } from '@jest/globals';
import {
  isPidInUse,
  isProcessOfThisUser,
  isProcessRunning,
  ownProcessId,
} from '../../../../bridge/state/process-id.ts';
import { endedProcessId } from '../../../support/bridge-database.ts';
import { startZombie } from '../../../support/zombie.ts';

describe('a process id', () => {
  test('the id names this process while it runs', async () => {
    expect(await isProcessRunning(await ownProcessId())).toBe(true);
  });

  test('the id names neither an ended process nor another process with the same pid', async () => {
    expect(await isProcessRunning(await endedProcessId())).toBe(false);
    const own = await ownProcessId();
    if (!own.endsWith('-x')) expect(await isProcessRunning(`${String(process.pid)}-00000000zzz`)).toBe(false);
  });

  test('R99 the id does not name a killed process whose parent has not read its exit code', async () => {
    if (process.platform !== 'linux') return;
    const { pid, end } = await startZombie();
    try {
      expect(await isProcessRunning(`${String(pid)}-x`)).toBe(false);
      expect([isPidInUse(pid), isProcessOfThisUser(pid)]).toEqual([false, false]);
    } finally {
      end();
    }
  });

  test('an invalid process id names no process', async () => {
    expect(await isProcessRunning('')).toBe(false);
    expect(await isProcessRunning('abc')).toBe(false);
  });
});
