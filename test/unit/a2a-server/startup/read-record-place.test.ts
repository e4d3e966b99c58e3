import { expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readRecordPlace } from '../../../../a2a-server/startup/read-settings.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

test('a command reads the place of the records from a file that also has other settings', async () => {
  const stateDir = await temporaryDirectory();
  const database = 'postgres://a2a@database/a2a';
  const server = { database, fourEyes: true, policy: [{ action: 'deny', command: 'rm' }] };
  await writeFile(join(stateDir, 'config.json'), JSON.stringify({ server }));
  expect(await readRecordPlace({ stateDir }, {})).toEqual({ stateDir, database });
});
