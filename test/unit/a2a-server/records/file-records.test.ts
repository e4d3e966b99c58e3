import { beforeEach, expect, it } from '@jest/globals';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileRecordStore } from '../../../../a2a-server/records/file-records.ts';
import { memoryRecords } from '../../../support/memory-records.ts';
import { recordStoreContract } from '../../../support/record-store-contract.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

let directory: string;
let memory = memoryRecords();
beforeEach(async () => {
  directory = await temporaryDirectory();
  memory = memoryRecords();
});

const onFailure = (error: unknown): void => {
  throw error;
};

recordStoreContract('records in files', async () => createFileRecordStore(directory, onFailure));
recordStoreContract('records in memory, as some tests use them', async () => memory);

it('X1 only the owner can read the records', async () => {
  await createFileRecordStore(directory, onFailure).create('tokens', 'a', 'value');
  const [name = ''] = await readdir(join(directory, 'tokens'));
  expect((await stat(join(directory, 'tokens'))).mode & 0o077).toBe(0);
  expect((await stat(join(directory, 'tokens', name))).mode & 0o077).toBe(0);
});
