import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { TOOLS } from '../../../../bridge/mcp/server/mcp-server.ts';
import { withSection } from '../../../../scripts/reference/markdown.ts';
import { referencePages } from '../../../../scripts/reference/pages.ts';
import { fieldRows } from '../../../../scripts/reference/schema-fields.ts';
import { parameterRows } from '../../../../scripts/reference/tools-section.ts';
import { ERROR_REASONS } from '../../../../shared/runtime/errors.ts';

test('the sections of docs/ from declarations are up to date: `npm run reference` writes them', async () => {
  const pages = await referencePages();
  expect(pages.map(({ path }) => path)).toContain('docs/extensions.md');
  for (const { present, written } of pages) expect(present).toBe(written);
});

test('each parameter of a tool has a description', () => {
  const bare = TOOLS.flatMap(({ name, declaration }) =>
    parameterRows(declaration)
      .filter(([, , meaning]) => meaning === '')
      .map(([parameter]) => `${name} ${parameter}`),
  );
  // A link leads to the fields of the card's decision.
  expect(bare).toEqual(['decide_on_approval_card `decision`']);
});

test('each error has a meaning', async () => {
  const page = (await referencePages()).find(({ path }) => path === 'docs/errors.md')?.written ?? '';
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \|.* \| (\S.*) \|$/gm)].map(([, reason]) => reason);
  expect(rows).toEqual(ERROR_REASONS);
});

test('a row has the name, the type and the description of a field, also in lists and with a default', () => {
  const schema = z.object({
    list: z.array(z.object({ inner: z.string().optional().describe('Inside.') })),
    word: z.enum(['a', 'b']).default('a'),
  });
  expect(fieldRows({ schema })).toEqual([
    ['`list`', 'list of object', ''],
    ['`list[].inner`?', 'text', 'Inside.'],
    ['`word`?', '`a`, `b`', 'Default: `a`.'],
  ]);
});

test('a page without the marks of a section is an error', () => {
  expect(() => withSection('# Page\n', 'tools', '')).toThrow('"tools"');
});
