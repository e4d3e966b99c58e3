import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { conformancePage, evidenceOf, readSections, readTables } from '../conformance/requirements.ts';
import type { Evidence, Table } from '../conformance/requirements.ts';

describe('the requirements of the specifications', () => {
  let tables: Table[];
  beforeAll(async () => {
    tables = await readTables('.');
  });

  test('each requirement names an existing test or page', async () => {
    const named = tables.flatMap(({ requirements }) => requirements.flatMap((row) => evidenceOf(row) ?? []));
    const files = [...new Set(named.map(({ file }) => file))];
    const sources = new Map(
      await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)),
    );
    const missing = named.filter((each) => !isIn(sources.get(each.file) ?? '', each));
    expect(missing).toEqual([]);
  });

  test('each section of A2A 1.0 with a MUST or a SHOULD has a row', async () => {
    const rows = tables
      .filter(({ title }) => title.startsWith('A2A 1.0'))
      .flatMap(({ requirements }) => requirements.flatMap(({ section }) => section.split(', ')));
    const missing = (await readSections('.')).filter((section) => !rows.includes(section));
    expect(missing).toEqual([]);
  });

  test('a requirement that the product meets has a test', () => {
    const kept = tables
      .flatMap(({ requirements }) => requirements)
      .filter(({ verdict }) => verdict === 'kept' || verdict === 'partly');
    expect(kept.filter((row) => evidenceOf(row) === undefined)).toEqual([]);
  });

  test('docs/conformance.md is up to date: `npm run conformance` writes it', async () => {
    expect(await readFile('docs/conformance.md', 'utf8')).toBe(conformancePage(tables));
  });

  test('a requirement with a gap describes the gap', () => {
    const gaps = tables
      .flatMap(({ requirements }) => requirements)
      .filter(({ verdict }) => verdict === 'partly' || verdict === 'not kept');
    expect(gaps.filter(({ behaviour }) => behaviour === '')).toEqual([]);
  });
});

/** Returns true if the source has a test whose title begins with these words, or the page has this heading. */
function isIn(source: string, { type, title }: Evidence): boolean {
  if (type === 'page') return new RegExp(`^#+ ${title}$`, 'mu').test(source);
  return ["'", '"', '`'].some((quote) => source.includes(quote + title));
}
