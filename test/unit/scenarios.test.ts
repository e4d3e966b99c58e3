import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { glob } from 'tinyglobby';
import { scenarios } from '../scenarios.ts';

/** Returns the titles of all tests and groups, as written in the source files. */
async function titles(): Promise<string[]> {
  const files = await glob('test/**/*.test.ts', { absolute: true });
  const sources = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return sources.flatMap((source) =>
    [...source.matchAll(/\b(?:it|test|describe)(?:\.each\([\s\S]*?\))?\(\s*(['"`])([\s\S]*?)\1/g)].map(
      ([, , title]) => title ?? '',
    ),
  );
}

describe('the list of scenarios', () => {
  let written: string[];
  beforeAll(async () => {
    written = await titles();
  });

  it.each(Object.keys(scenarios))('has a test for %s', (id) => {
    const named = written.filter((title) => new RegExp(`\\b${id}\\b`).test(title));
    expect(named).not.toEqual([]);
  });

  it('the list has every scenario that a test claims to prove', () => {
    const claimed = written.flatMap((title) => [...title.matchAll(/\bR\d{2,3}\b/g)].map(([id]) => id));
    expect(Object.keys(scenarios)).toEqual(expect.arrayContaining([...new Set(claimed)]));
  });
});
