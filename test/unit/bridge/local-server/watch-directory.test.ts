import { expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { watchDirectory } from '../../../../bridge/local-server/watch-directory.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

test('the watch calls the listener after a change of the directory', async () => {
  const directory = await temporaryDirectory();
  const changed = new Promise<void>((resolve) => {
    const stop = watchDirectory(directory, () => {
      stop();
      resolve();
    });
  });
  await writeFile(join(directory, 'file'), '');
  await changed;
});

test('the watch calls the listener repeatedly if the system refuses to watch the directory', async () => {
  // A missing directory gives the same error as a system without free watches: `fs.watch` throws.
  const missing = join(await temporaryDirectory(), 'missing');
  let calls = 0;
  await new Promise<void>((resolve) => {
    const stop = watchDirectory(missing, () => {
      calls += 1;
      if (calls < 3) return;
      stop();
      resolve();
    });
  });
  expect(calls).toBe(3);
});
