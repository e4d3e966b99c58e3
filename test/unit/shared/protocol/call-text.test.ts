import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { callText } from '../../../../shared/protocol/call-text.ts';

const BUILT_IN = { type: 'built-in' } as const;
const NOTES = { type: 'mcp-server' } as const;
const textOf = (value: unknown, tool = 'post', source: typeof BUILT_IN | typeof NOTES = NOTES) =>
  callText({ tool, source, preview: { type: 'json', value } });

describe('the text of a call without a diff', () => {
  test.each<[string, unknown, string]>([
    ['move-file', { moves: 'a.md', to: 'new/b.md', bytes: 7 }, 'Move a.md to new/b.md (7 bytes)'],
    ['move-file', { moves: 'a to b', to: 'c (1 byte)', bytes: 1 }, 'Move "a to b" to "c (1 byte)" (1 byte)'],
    ['delete-file', { count: 1, bytes: 3400, deletes: ['a (3.4 kB)'] }, 'Delete a (3.4 kB)'],
    [
      'delete-file',
      { count: 2, bytes: 2_000_000, deletes: ['old/', 'old/a (2.0 MB)'] },
      'Delete 2 items (2.0 MB):\nold/\nold/a (2.0 MB)',
    ],
    ['move-file', { moves: 'a', to: 'b', bytes: 7, also: 'c' }, 'moves: a\nto: b\nbytes: 7\nalso: c'],
  ])('of the built-in tool %s says its effect %#', (tool, value, text) => {
    expect(textOf(value, tool, BUILT_IN)).toBe(text);
  });

  test('D5 of a tool of an MCP server never says the effect of a built-in tool', () => {
    expect(textOf({ moves: 'a', to: 'b', bytes: 7 }, 'move-file')).toBe('moves: a\nto: b\nbytes: 7');
  });

  test.each<[string, unknown, string]>([
    ['numbers, truth values and null', { n: 1.5, yes: true, no: null }, 'n: 1.5\nyes: true\nno: null'],
    ['a text with colons', { url: 'https://a.example:80/b' }, 'url: https://a.example:80/b'],
    ['a text with a field in it, in quotes', { a: 'x dryRun: true', n: 1 }, 'a: "x dryRun: true"\nn: 1'],
    [
      'a text whose end could wrap to a row of its own, in quotes',
      { path: `report.txt${' '.repeat(70)}dryRun: true`, to: 'a  b', force: true },
      `path: "report.txt${' '.repeat(70)}dryRun: true"\nto: "a  b"\nforce: true`,
    ],
    ['a text that looks like another value, in quotes', { n: '1', is: 'true' }, 'n: "1"\nis: "true"'],
    ['a text with spaces at its ends, in quotes', { a: ' x', b: '' }, 'a: " x"\nb: ""'],
    ['a text of several lines, with an indent', { body: 'x\nto: y', n: 1 }, 'body:\n    x\n    to: y\nn: 1'],
    ['a list of texts', { labels: ['bug', 'p1'] }, 'labels: ["bug","p1"]'],
  ])('has one line for each field: %s', (_, value, text) => {
    expect(textOf(value)).toBe(text);
  });

  test.each<[string, unknown]>([
    ['a nested object', { a: { b: 1 } }],
    ['a list of objects', { a: [{ b: 1 }] }],
    ['a name that could be a value', { 'a: b\nc': 1 }],
    ['no field', {}],
    ['a list', ['a']],
  ])('is JSON for an input with %s', (_, value) => {
    expect(textOf(value)).toBeUndefined();
  });

  test('D5 shows each input exactly', () => {
    const part = fc.constantFrom('a', 'b', ': ', '\n', ' ', '"', '1', 'true', '[', '    ');
    const text = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
    const value = fc.oneof(text, fc.integer({ max: 12 }), fc.boolean(), fc.array(text, { maxLength: 2 }));
    const input = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { minKeys: 1, noNullPrototype: true });
    fc.assert(fc.property(input, (shown) => expect(inputIn(textOf(shown) ?? '')).toEqual(shown)));
  });
});

/** Reads an input back from its text. */
function inputIn(text: string): Record<string, unknown> {
  const fields = text.split(/\n(?! )/).map((field): [string, unknown] => {
    const [, name = '', line, lines = ''] = /^(\w+):(?: (.*)|((?:\n    .*)+))$/.exec(field) ?? [];
    if (line === undefined) return [name, lines.slice(1).replaceAll(/^ {4}/gm, '')];
    return [name, /^["[]|^(-?\d+|true|false)$/.test(line) ? JSON.parse(line) : line];
  });
  return Object.fromEntries(fields);
}
