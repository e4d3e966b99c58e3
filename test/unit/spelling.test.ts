import { expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { glob } from 'tinyglobby';

/** Matches the word only inside a sentence, because names in the code and in A2A keep this spelling. */
const IN_A_SENTENCE = /[a-z] canceled\b|\bcanceled [a-z]|\bCanceled\b/;

test('sentences contain the spelling "cancelled"; only names of A2A contain "canceled"', async () => {
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
