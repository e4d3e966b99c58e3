import { expect, test } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RECORDINGS = fileURLToPath(new URL('../recordings/', import.meta.url));

test('each recorded stream names its documentation, and the list of sources has each folder', async () => {
  const list = await readFile(join(RECORDINGS, 'README.md'), 'utf8');
  const folders = (await readdir(RECORDINGS, { withFileTypes: true })).filter((each) => each.isDirectory());
  const listed = [...list.matchAll(/^\| `([^`]+)` .*https:/gm)].map(([, name]) => name);
  expect(new Set(listed)).toEqual(new Set(folders.map(({ name }) => name)));
  for (const { name } of folders)
    for (const file of await readdir(join(RECORDINGS, name))) {
      const [first = ''] = (await readFile(join(RECORDINGS, name, file), 'utf8')).split('\n', 1);
      if (file.endsWith('.sse')) expect(first).toMatch(/^: After .*https:/);
    }
});
