import { expect, test } from '@jest/globals';
import { readServerSettings } from '../../../../a2a-server/startup/settings/read-settings.ts';

test('no preview is on unless the operator names it', async () => {
  expect((await readServerSettings({}, {})).preview).toEqual([]);
  expect((await readServerSettings({ preview: ['a2a-1.1'] }, {})).preview).toEqual(['a2a-1.1']);
});

test.each(['a2a-1.2', 'A2A-1.1', ''])('the unknown preview %p is refused, with the list', async (name) => {
  await expect(readServerSettings({ preview: [name] }, {})).rejects.toMatchObject({
    reason: 'CONFIGURATION',
    message: expect.stringMatching(
      /^Setting "preview" from flag --preview is not valid.*Allowed: a2a-1\.1\.$/,
    ),
    facts: { key: 'preview' },
  });
});
