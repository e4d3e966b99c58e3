import { describe, expect, test } from '@jest/globals';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  readServerRecord,
  removeOwnServerRecord,
  writeServerRecord,
} from '../../../../shared/state/server-record.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const RECORD = { url: 'http://127.0.0.1:1', pid: 7, version: '1.0.0', startedAt: '2026-01-01T00:00:00.000Z' };

describe('the record of the running server', () => {
  test('the record is written atomically, only its owner can read it, and its content is read back unchanged', async () => {
    const directory = await temporaryDirectory();
    expect(await readServerRecord(directory)).toBeUndefined();
    await writeServerRecord(directory, RECORD);
    await writeServerRecord(directory, { ...RECORD, pid: 8 });
    expect(await readServerRecord(directory)).toEqual({ ...RECORD, pid: 8 });
    expect((await stat(join(directory, 'server.json'))).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['server.json']);
  });

  test('only the run that wrote the record deletes it', async () => {
    const directory = await temporaryDirectory();
    await writeServerRecord(directory, RECORD);
    await removeOwnServerRecord(directory, { ...RECORD, startedAt: '2026-01-01T00:00:01.000Z' });
    expect(await readServerRecord(directory)).toEqual(RECORD);
    await removeOwnServerRecord(directory, RECORD);
    expect(await readServerRecord(directory)).toBeUndefined();
  });

  test.each(['', '{', '{}', '{"url":"file:///etc/passwd","pid":1,"version":"1","startedAt":"x"}'])(
    'there is no record if the file contains %p',
    async (text) => {
      const directory = await temporaryDirectory();
      await writeFile(join(directory, 'server.json'), text);
      expect(await readServerRecord(directory)).toBeUndefined();
    },
  );
});
