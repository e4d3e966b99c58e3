import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { colouredLines } from '../../../../../../a2a-server/page/browser/diff/diff-colours.ts';
import { parseDiff } from '../../../../../../a2a-server/page/browser/diff/diff-rows.ts';
import { highlightLanguageOf } from '../../../../../../a2a-server/page/browser/diff/code-pieces.ts';
import { highlightedLines } from '../../../../../../a2a-server/page/browser/diff/highlight.ts';
import { unifiedFileDiff } from '../../../../../../shared/text/unified-diff.ts';

const LANGUAGES = ['typescript', 'python', 'c', 'xml', 'bash', 'json', 'yaml', ''] as const;

describe('the colours of code', () => {
  test('never change the text', () => {
    const code = fc.array(
      fc.constantFrom(
        'const a = 1;',
        '"',
        '/*',
        '*/',
        '<script>alert(1)</script>',
        '`${',
        '#',
        '\n',
        '  ',
        'é',
        '&lt;',
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(code, fc.constantFrom(...LANGUAGES), (parts, language) => {
        const text = parts.join('');
        const lines = highlightedLines(text, language).map((pieces) =>
          pieces.map((piece) => piece.text).join(''),
        );
        expect(lines.join('\n')).toBe(text);
      }),
    );
  });

  test('name the kinds of words', () => {
    expect(highlightedLines('const a = "x"; // why', 'typescript')).toEqual([
      expect.arrayContaining([
        { text: 'const', kind: 'keyword' },
        { text: '"x"', kind: 'string' },
        { text: '// why', kind: 'comment' },
      ]),
    ]);
  });

  test.each([
    ['src/a.test.ts', 'typescript'],
    ['Dockerfile', 'dockerfile'],
    ['a/Makefile', 'makefile'],
    ['A.PY', 'python'],
    ['a.h', 'cpp'],
    ['a.htm', 'xml'],
    ['a.scss', 'css'],
  ])('come from the name of the file: %p is in the language %p', (path, language) => {
    const code = '/* a */ <b> "c" # if class FROM echo';
    expect(highlightedLines(code, highlightLanguageOf(path))).toEqual(highlightedLines(code, language));
    expect(highlightedLines(code, language)).not.toEqual([[{ text: code }]]);
  });

  test.each(['notes', 'a.constructor', '__proto__', ''])('do not exist for the file %p', (path) => {
    expect(highlightedLines('if "a"', highlightLanguageOf(path))).toEqual([[{ text: 'if "a"' }]]);
  });

  test('continue over the lines of a comment, on each side of a change', () => {
    const before = '/*\n one\n*/\nconst a = 1;\n';
    const after = '/*\n two\n*/\nconst a = 1;\n';
    const rows = parseDiff(unifiedFileDiff('a.ts', before, after))?.rows ?? [];
    const coloured = colouredLines(rows, (text) => highlightedLines(text, 'typescript'));
    const kinds = rows.flatMap((row) =>
      row.type === 'removed' || row.type === 'added' ? [coloured.get(row)?.map(({ kind }) => kind)] : [],
    );
    expect(kinds).toEqual([['comment'], ['comment']]);
  });

  test.each(['a', 'a ', '_', '"', '(', '<', '[a]('])(
    'take a short time for a hostile text of many %p',
    (word) => {
      const text = Array.from({ length: 500 }, () => word.repeat(200)).join('\n');
      for (const language of ['c', 'cpp', 'bash', 'typescript'] as const) {
        const lines = highlightedLines(text, language).map((pieces) =>
          pieces.map((piece) => piece.text).join(''),
        );
        expect(lines.join('\n')).toBe(text);
      }
    },
  );

  test('do not exist for a line of many characters', () => {
    const line = 'const a = 1; '.repeat(1_000);
    expect(highlightedLines(`const b = 1;\n${line}`, 'typescript').at(-1)).toEqual([{ text: line }]);
    expect(highlightedLines(`const b = 1;\n${line}`, 'typescript')[0]?.[0]?.kind).toBe('keyword');
  });

  test('a hidden character of a line stays visible', () => {
    const rows = parseDiff(unifiedFileDiff('a.ts', '', 'const a = "\u202e";\n'))?.rows ?? [];
    const shown = [...colouredLines(rows, (text) => highlightedLines(text, 'typescript')).values()]
      .flat()
      .map(({ text }) => text);
    expect(shown.join('')).toBe('const a = "\\u{202e}";');
  });
});
