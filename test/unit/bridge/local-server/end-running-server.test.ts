import { expect, test } from '@jest/globals';
import { endServerProcess } from '../../../../bridge/local-server/end-running-server.ts';
import { startZombie } from '../../../support/zombie.ts';

test('a server has ended, although the first process of the container reads no exit codes', async () => {
  if (process.platform !== 'linux') return;
  const { pid, end } = await startZombie();
  try {
    const record = { url: 'http://127.0.0.1:1', pid, version: '0', startedAt: 'then' };
    await expect(endServerProcess({ type: 'running', record })).resolves.toBeUndefined();
  } finally {
    end();
  }
});
