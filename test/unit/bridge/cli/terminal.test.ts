import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { ageText, durationText } from '../../../../bridge/cli/terminal/age.ts';
import { editInEditor, editorOf } from '../../../../bridge/cli/terminal/editor.ts';
import { paintDiff, wantsColour } from '../../../../bridge/cli/terminal/paint.ts';
import { createTerminal, type Terminal } from '../../../../bridge/cli/terminal/terminal.ts';
import { cutToWidth, formatTable } from '../../../../bridge/cli/terminal/table.ts';

describe('colours at the terminal', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('with the environment %j and a terminal (%s), colours are on: %s', (env, terminal, wanted) =>
    expect(wantsColour(env, terminal)).toBe(wanted),
  );

  it('a diff’s removed and added lines have different colours', () => {
    const painted = paintDiff('--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z', (style, text) => `${style}(${text})`);
    expect(painted).toBe('bold(--- a)\nbold(+++ b)\ncyan(@@ -1 +1 @@)\nred(-x)\ngreen(+y)\n z');
    expect(paintDiff('│ -x\n│ +y\n│', (style, text) => `${style}(${text})`)).toBe(
      'red(│ -x)\ngreen(│ +y)\n│',
    );
  });

  it('in a hunk, a removed line that begins with "-- " is no header; after the hunk, a header is one', () => {
    const diff = '--- a\n+++ b\n@@ -1,3 +1,3 @@\n same\n--- x\n-y\n+++ x\n+y\n--- c\n+++ d';
    const colours: string[] = [];
    paintDiff(diff, (style, text) => (colours.push(style), text));
    expect(colours.join(' ')).toBe('bold bold cyan red red green green bold bold');
  });
});

describe('a table at the terminal', () => {
  it('the table has aligned columns, with numbers on the right, and shortens the last column to the width', () => {
    const rows = [
      [{ text: 'a' }, { text: '1' }, { text: 'a long title' }],
      [{ text: 'bb' }, { text: '100' }, { text: '寸法寸法寸法寸法' }],
    ];
    const columns = [{ title: 'N' }, { title: 'P', align: 'right' as const }, { title: 'TITLE' }];
    expect(formatTable(columns, rows, undefined).split('\n')).toEqual([
      'N     P  TITLE',
      'a     1  a long title',
      'bb  100  寸法寸法寸法寸法',
    ]);
    const long = [[{ text: 'bb' }, { text: '100' }, { text: '寸法'.repeat(8) }]];
    expect(formatTable(columns, long, 30).split('\n')[1]).toBe('bb  100  寸法寸法寸法寸法寸法…');
  });

  it('a row that is wider than the terminal has several lines, and each fits', () => {
    const columns = [
      { title: 'ID' },
      { title: 'STATE' },
      { title: 'COUNT', align: 'right' as const },
      { title: 'TASK' },
    ];
    const rows = [
      [{ text: 'a1' }, { text: 'waits' }, { text: '12' }, { text: 'Write the long file' }],
      [{ text: 'b234' }, { text: 'done' }, { text: '-' }, { text: 'x'.repeat(60) }],
    ];
    expect(formatTable(columns, rows, 30).split('\n')).toEqual([
      'ID    STATE  COUNT',
      '  TASK',
      'a1    waits     12',
      '  Write the long file',
      'b234  done       -',
      `  ${'x'.repeat(27)}…`,
    ]);
    expect(formatTable(columns, rows.slice(0, 1), 12).split('\n')).toEqual([
      'ID  STATE',
      '  COUNT',
      '  TASK',
      'a1  waits',
      '     12',
      '  Write the…',
    ]);
  });

  it('a cell is never cut beyond its width, nor inside a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 30 }), (text, width) => {
        const shown = cutToWidth(text, width);
        expect(stringWidth(shown)).toBeLessThanOrEqual(Math.max(width, 1));
        if (shown !== text) expect(text.startsWith(shown.slice(0, -1))).toBe(true);
      }),
    );
  });
});

describe('ages at the terminal', () => {
  it('an age has the largest unit that fits', () => {
    const now = Date.parse('2026-01-10T00:00:00Z');
    expect(
      ['2026-01-07T23:00:00Z', '2026-01-09T22:59:00Z', '2026-01-10T00:00:05Z', ''].map((at) =>
        ageText(at, now),
      ),
    ).toEqual(['2d', '1h', '0s', '']);
    expect(durationText(61_000)).toBe('1m');
  });
});

const printAll = ({ json, say, explain, write, complain, warn }: Terminal): void => {
  json({ a: 1 });
  for (const print of [say, explain, write, complain, warn]) print('text');
};

/** Returns what a command prints at a terminal of 16 columns. */
function printedAtTerminal(
  printsJson: boolean,
  print: (to: Terminal) => void,
): Readonly<Record<'stdout' | 'stderr', string>> {
  const printed = { stdout: '', stderr: '' };
  const streams = (['stdout', 'stderr'] as const).map((name) => {
    const write = (text: string): void => void (printed[name] += text);
    const terminal = Object.assign(Object.create(process[name]), { isTTY: true, columns: 16, write });
    return jest.spyOn(process, name, 'get').mockReturnValue(terminal);
  });
  print(createTerminal({}, printsJson));
  for (const stream of streams) stream.mockRestore();
  return printed;
}

describe('the output at the terminal', () => {
  it('hidden characters of an error are escaped and its further rows are marked, because it may quote an agent', () => {
    const error = 'Agent "a": \u{1b}[2J\nno\u{202e}';
    expect(printedAtTerminal(false, (to) => to.complain(error)).stderr).toBe(
      'Agent "a":\n↳ \\u{1b}[2J\nno\\u{202e}\n',
    );
  });

  it('hidden characters of JSON are escaped, because it may quote an agent', () =>
    expect(printedAtTerminal(true, (to) => to.json('"a\u{1b}[2J"\n{}')).stdout).toBe(
      String.raw`"a\u001b[2J"` + '\n{}\n',
    ));

  it.each([
    [false, 'text\ntext\ntext', 'text\ntext\n'],
    [true, '{"a":1}\n', 'text\n'],
  ])('JSON is printed instead of text with --json only (%p)', (printsJson, stdout, stderr) =>
    expect(printedAtTerminal(printsJson, printAll)).toEqual({ stdout, stderr }),
  );
});

describe('the editor', () => {
  it('an editor that a signal ends is an error with the name of the signal', async () => {
    const edited = editInEditor({ text: 'x', extension: '.txt', env: { EDITOR: 'kill -KILL $$; true' } });
    await expect(edited).rejects.toThrow('was ended by SIGKILL, so nothing was decided');
  });
});

describe('the choice of the editor', () => {
  it.each([
    [{ VISUAL: 'code -w', EDITOR: 'vi' }, 'linux', 'code -w'],
    [{ EDITOR: 'nano' }, 'linux', 'nano'],
    [{ EDITOR: '' }, 'linux', 'vi'],
    [{}, 'win32', 'notepad'],
  ] as const)('with the environment %j on %s, the editor is "%s"', (env, platform, editor) =>
    expect(editorOf(env, platform)).toBe(editor),
  );
});
