import { expect, test } from '@jest/globals';
import { readServerSettings } from '../../../../a2a-server/startup/settings/read-settings.ts';

const TOKEN = 'a-token-of-20-characters-or-more';

const read = (tokens: string) => readServerSettings({}, { A2A_SERVER_TOKENS: tokens });

test('X1 two principals cannot have the same token, because the requests of one would count for the other', async () => {
  await expect(read(`ann=${TOKEN},bob=${TOKEN}`)).rejects.toThrow('two entries have the same token');
  expect((await read(`ann=${TOKEN},ann=${TOKEN}-2`)).tokens).toHaveLength(2);
});
