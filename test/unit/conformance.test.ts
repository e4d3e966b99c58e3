import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { conformancePage, readTables, testOf } from '../conformance/requirements.ts';
import type { Table } from '../conformance/requirements.ts';

describe('the requirements of the specifications', () => {
  let tables: Table[];
  beforeAll(async () => {
    tables = await readTables('.');
  });

  test('each name a test that exists', async () => {
    const named = tables.flatMap(({ requirements }) => requirements.map(testOf));
    const files = [...new Set(named.map(({ file }) => file))];
    const sources = new Map(
      await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)),
    );
    const missing = named.filter(({ file, title }) => !hasTest(sources.get(file) ?? '', title));
    expect(missing).toEqual([]);
  });

  test('are the page docs/conformance.md: `npm run conformance` writes it', async () => {
    expect(await readFile('docs/conformance.md', 'utf8')).toBe(conformancePage(tables));
  });

  test('say what the gap is where one is', () => {
    const gaps = tables
      .flatMap(({ requirements }) => requirements)
      .filter(({ verdict }) => verdict === 'partly' || verdict === 'not kept');
    expect(gaps.filter(({ behaviour }) => behaviour === '')).toEqual([]);
  });
});

/** True if a title of the source begins with these words. */
function hasTest(source: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) => source.includes(quote + title));
}
