import { describe, expect, test } from '@jest/globals';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readLastLines, showNewLogContent } from '../../../../bridge/local-server/log-reader.ts';
import { openLogFile } from '../../../../shared/runtime/log-file.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

/** The maximum size of the log in bytes. Seven lines fit. */
const LIMIT = 56;
/** One call of `showNewLogContent` needs fewer turns of the event loop. */
const TURNS = 40;
/** All lines have the same length. So the new log file can get the old file's length. */
const line = (n: number): string => `line ${String(n).padStart(2, '0')}`;

/** Returns a function that writes lines to a log file of limited size. */
function writer(path: string) {
  const destination = openLogFile(path, LIMIT);
  return (from: number, to: number): void => {
    for (let n = from; n <= to; n += 1) destination.write(`${line(n)}\n`);
  };
}

describe.each(Array.from({ length: TURNS }, (_, turn) => turn))(
  'a reader shows each line once if the log is rotated %i turns of the event loop after it began to read',
  (turn) => {
    test.each([9, 13])('and the new log has the lines up to %i', async (last) => {
      const path = join(await temporaryDirectory(), 'server.log');
      const write = writer(path);
      write(1, 5);
      const found = await readLastLines(path, 5);
      if (found === undefined) throw new Error('there is no log');
      let shown = '';
      const show = (chunk: Buffer): void => void (shown += chunk.toString());
      write(6, 6);
      const reading = showNewLogContent(path, found.position, show);
      for (let n = 0; n < turn; n += 1) await new Promise((resolve) => setImmediate(resolve));
      write(7, last);
      await showNewLogContent(path, await reading, show);
      const all = Array.from({ length: last }, (_, at) => line(at + 1));
      expect([...found.lines, ...shown.trim().split('\n')]).toEqual(all);
    });
  },
);

test('the last lines come from both logs, and without a log there are none', async () => {
  const path = join(await temporaryDirectory(), 'server.log');
  expect(await readLastLines(path, 3)).toBeUndefined();
  writer(path)(1, 9);
  expect((await readLastLines(path, 6))?.lines).toEqual([4, 5, 6, 7, 8, 9].map(line));
  expect((await readLastLines(path, 0))?.lines).toEqual([]);
});

test.each(Array.from({ length: TURNS }, (_, turn) => turn))(
  'logs that are deleted %i turns of the event loop after a reader began to read are no error',
  async (turn) => {
    const path = join(await temporaryDirectory(), 'server.log');
    writer(path)(1, 9);
    const reading = readLastLines(path, 9);
    for (let n = 0; n < turn; n += 1) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([rm(path), rm(`${path}.1`)]);
    const found = await reading;
    if (found !== undefined) expect(found.lines.at(-1)).toBe(line(9));
  },
);

test('a reader continues in the log of the next server', async () => {
  const path = join(await temporaryDirectory(), 'server.log');
  writer(path)(1, 2);
  const found = await readLastLines(path, 1);
  if (found === undefined) throw new Error('there is no log');
  await rename(path, `${path}.1`);
  await writeFile(path, 'of the next server, which is longer\n');
  let shown = '';
  await showNewLogContent(path, found.position, (chunk) => void (shown += chunk.toString()));
  expect(shown).toBe('of the next server, which is longer\n');
});
