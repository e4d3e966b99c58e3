import { expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { glob } from 'tinyglobby';

/** The word beside another word, so not a name in the code or on the wire. */
const IN_A_SENTENCE = /[a-z] canceled\b|\bcanceled [a-z]|\bCanceled\b/;

test('sentences spell "cancelled"; only the names of A2A spell it with one l', async () => {
  const sources = ['a2a-server', 'bridge', 'shared'].map((folder) => `${folder}/**/*.{ts,tsx}`);
  const files = await glob([...sources, 'docs/**/*.md', 'examples/**', '*.md']);
  expect(files.length).toBeGreaterThan(500);
  const wrong = await Promise.all(
    files.map(async (file) => {
      const lines = (await readFile(file, 'utf8')).split('\n');
      return lines.flatMap((line, index) =>
        IN_A_SENTENCE.test(line) ? [`${file}:${String(index + 1)}: ${line.trim()}`] : [],
      );
    }),
  );
  expect(wrong.flat()).toEqual([]);
});
