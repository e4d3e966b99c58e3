import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { glob } from 'tinyglobby';
import { scenarios } from '../scenarios.ts';

/** Titles of tests and of the groups they stand in, as written in the sources. */
async function titles(): Promise<string[]> {
  const files = await glob('test/**/*.test.ts', { absolute: true });
  const sources = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return sources.flatMap((source) =>
    [...source.matchAll(/\b(?:it|test|describe)(?:\.each\([\s\S]*?\))?\(\s*(['"`])([\s\S]*?)\1/g)].map(
      ([, , title]) => title ?? '',
    ),
  );
}

describe('the catalogue of scenarios', () => {
  it.each(Object.keys(scenarios))('has a test for %s', async (id) => {
    const named = (await titles()).filter((title) => new RegExp(`\\b${id}\\b`).test(title));
    expect(named).not.toEqual([]);
  });

  it('lists every scenario that a test claims to prove', async () => {
    const claimed = (await titles()).flatMap((title) => [...title.matchAll(/\bR\d\d\b/g)].map(([id]) => id));
    expect(Object.keys(scenarios)).toEqual(expect.arrayContaining([...new Set(claimed)]));
  });
});
