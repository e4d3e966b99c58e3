import { expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  readRecordStorePlace,
  type RecordStorePlace,
} from '../../../../a2a-server/startup/settings/read-settings.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

async function placeWith(server: object): Promise<RecordStorePlace> {
  const stateDir = await temporaryDirectory();
  await writeFile(join(stateDir, 'config.json'), JSON.stringify({ server }));
  return readRecordStorePlace({ stateDir }, {});
}

test('the place of the records is found beside any other settings, also beside invalid ones', async () => {
  const database = 'postgres://127.0.0.1/tasks';
  expect(await placeWith({ model: 'ollama:qwen3', maxTasks: 'many', policy: 7, database })).toMatchObject({
    database,
  });
  expect(await placeWith({ port: 1 })).toMatchObject({ database: undefined });
});

test('a misspelt setting is refused, because it could be the database', async () => {
  await expect(placeWith({ databse: 'postgres://127.0.0.1/tasks' })).rejects.toThrow(
    /Unknown setting "databse" .*Did you mean "database"/u,
  );
});
