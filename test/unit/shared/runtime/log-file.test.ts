import { describe, expect, it } from '@jest/globals';
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { openLogFile } from '../../../../shared/runtime/log-file.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const MAX = 2_000;

describe('the log file of the server', () => {
  it('the log file stays below its limit in a long run, and every line is complete JSON', async () => {
    const path = join(await temporaryDirectory(), 'server.log');
    const log = createLogger({ name: 'test', level: 'info', destination: openLogFile(path, MAX) });
    for (let i = 0; i < 200; i += 1) log.info({ i }, 'something happened');
    const texts = await Promise.all([`${path}.1`, path].map((each) => readFile(each, 'utf8')));
    for (const text of texts) expect(text.length).toBeLessThanOrEqual(MAX);
    const numbers = texts
      .join('')
      .trim()
      .split('\n')
      .map((line) => z.object({ i: z.number() }).parse(JSON.parse(line)).i);
    expect(numbers.at(-1)).toBe(199);
    expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(`${path}.1`)).mode & 0o777).toBe(0o600);
  });

  it('the log file keeps the text of another writer, such as a crash on stderr', async () => {
    const path = join(await temporaryDirectory(), 'server.log');
    const destination = openLogFile(path, MAX);
    const stderr = openSync(path, 'a');
    destination.write(`${'x'.repeat(MAX - 10)}\n`);
    destination.write('the next line\n');
    writeSync(stderr, 'FATAL ERROR: out of memory\n');
    closeSync(stderr);
    expect(await readFile(path, 'utf8')).toBe('the next line\nFATAL ERROR: out of memory\n');
  });

  it('the log file keeps the new lines and its limit if the earlier lines cannot be copied', async () => {
    const path = join(await temporaryDirectory(), 'server.log');
    const destination = openLogFile(path, 15);
    destination.write('first line\n');
    // A directory with the name of the copy makes the copy fail.
    await mkdir(`${path}.1`);
    destination.write('second line\n');
    destination.write('third line\n');
    expect(await readFile(path, 'utf8')).toBe('third line\n');
    expect(await readdir(`${path}.1`)).toEqual([]);
    await expect(stat(`${path}.1.new`)).rejects.toThrow('ENOENT');
    await rmdir(`${path}.1`);
    destination.write('fourth line\n');
    expect(await readFile(path, 'utf8')).toBe('fourth line\n');
    expect(await readFile(`${path}.1`, 'utf8')).toBe('third line\n');
  });

  const fullDisk = '/dev/full';
  (existsSync(fullDisk) ? it : it.skip)('loses lines on a full disk, and throws nothing', () => {
    const destination = openLogFile(fullDisk);
    expect(() => destination.write('a line\n')).not.toThrow();
  });
});
