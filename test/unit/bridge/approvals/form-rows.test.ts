import { describe, expect, test } from '@jest/globals';
import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { buildFormCandidates } from '../../../../bridge/approvals/form.ts';
import {
  FORM_ROW_COLUMNS,
  formRowColumns,
  approvalFormRows,
  MAX_FORM_ROWS,
  actionSummaryRows,
} from '../../../../bridge/approvals/form-rows.ts';
import type { PendingAction, Preview } from '../../../../shared/protocol/tool-approval.ts';
import { displayWidth } from '../../../../bridge/text/display-width.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

const action = (changes: Partial<PendingAction>): PendingAction => pendingWrite('one', changes);
const command = (text: string, cwd = '/w'): PendingAction =>
  action({ tool: 'run-shell-command', preview: { type: 'command', command: text, cwd } });
const edit = (before: string | undefined, after: string, path = 'a.txt'): PendingAction => {
  const diff = createTwoFilesPatch(
    before === undefined ? '/dev/null' : `a/${path}`,
    `b/${path}`,
    before ?? '',
    after,
    undefined,
    undefined,
    { context: 3 },
  );
  return action({ preview: { type: 'diff', path, diff } });
};

describe('the rows of an action that fits into a form', () => {
  test.each<[string, PendingAction, readonly string[]]>([
    [
      'a changed line, without the lines around it',
      edit('alpha\nbeta\ngamma\n', 'alpha\nBETA\ngamma\n'),
      ['Change a.txt: +1 −1, line 2', '- beta', '+ BETA'],
    ],
    [
      'changes in two places',
      edit('a\nb\nc\nd\n', 'b\nc\n'),
      ['Change a.txt: +0 −2, line 1, 3', '- a', '- d'],
    ],
    [
      'D5 a mark beside each word from right to left, so that a screen shows the words in their order',
      command('cp 1 \u05d0 2 > \u05d1\u05b7', '/w/\u0627'),
      ['$ cp 1 \u200e\u05d0\u200e 2 > \u200e\u05d1\u05b7\u200e', 'in /w/\u200e\u0627\u200e'],
    ],
    ['a new file', edit(undefined, 'hello\n'), ['Create a.txt: +1', '+ hello']],
    [
      'a changed file, and its workspace',
      { ...edit('a\n', 'b\n'), workspace: '/home/ann/app\u{202e}' },
      ['Change a.txt in /home/ann/app\\u{202e}: +1 −1, line 1', '- a', '+ b'],
    ],
    [
      'the last directories of a workspace with a long path',
      { ...edit('a\n', 'b\n'), workspace: `/home/ann/${'long/'.repeat(9)}projects/app` },
      [`Change a.txt in …${'/long'.repeat(5)}/projects/app: +1 −1, line 1`, '- a', '+ b'],
    ],
    [
      'the last directory of a workspace, however long it is',
      { ...edit(undefined, 'b\n'), workspace: `/home/${'x'.repeat(60)}` },
      [`Create a.txt in …/${'x'.repeat(56)}`, `↳ xxxx: +1`, '+ b'],
    ],
    [
      'a call that changes files, and their workspace',
      action({
        tool: 'move-file',
        workspace: 'C:\\work\\app',
        preview: { type: 'json', value: { moves: 'a', to: 'b', bytes: 7 } },
      }),
      ['Call move-file in C:\\work\\app', '│ Move a to b (7 bytes)'],
    ],
    [
      'a last line without a line feed',
      edit(undefined, 'hello'),
      ['Create a.txt: +1', '+ hello ⟨no line feed at the end⟩'],
    ],
    [
      'a removed line that looks like a header',
      edit('-- x\nb\n', 'b\n'),
      ['Change a.txt: +0 −1, line 1', '- -- x'],
    ],
    ['a command, and where it runs', command('npm test'), ['$ npm test', 'in /w']],
    [
      'a command of two lines',
      command('cd src &&\n  rm -rf "$X"'),
      ['$ cd src &&', '>   rm -rf "$X"', 'in /w'],
    ],
    [
      'a command that writes the words of the product',
      command('true\nin /safe'),
      ['$ true', '> in /safe', 'in /w'],
    ],
    [
      'an MCP tool',
      action({
        tool: 'echo',
        source: { type: 'mcp-server', server: 'notes' },
        preview: { type: 'json', value: { text: 'hi' } },
      }),
      ['Call echo (MCP server notes)', '│ text: hi'],
    ],
    [
      'a call whose fields need more rows than its JSON',
      action({ tool: 'echo', preview: { type: 'json', value: { a: 1, b: 2, c: 3, d: 4 } } }),
      ['Call echo', '│ {"a":1,"b":2,"c":3,"d":4}'],
    ],
    [
      'an address',
      action({ tool: 'fetch', preview: { type: 'url', url: 'https://a.example/b' } }),
      ['Call fetch', '│ https://a.example/b'],
    ],
    [
      'a call that ran before, the warning first',
      { ...command('npm publish'), reason: 'outcome-unknown' },
      ['It RAN BEFORE, outcome unknown. Accept runs it AGAIN, Decline skips it.', '$ npm publish', 'in /w'],
    ],
    [
      'a file that changed since, the warning first',
      { ...edit('a\n', 'b\n'), reason: 'content-changed' },
      ['It CHANGED since it was shown. This is the change now.', 'Change a.txt: +1 −1, line 1', '- a', '+ b'],
    ],
    [
      'a permission that the agent takes for good',
      {
        ...command('npm test'),
        source: { type: 'acp-agent' as const, agent: 'gemini' },
        input: { title: 'npm test', forGood: true },
      },
      ['Accept allows it FOR GOOD: the agent asks no more.', '$ npm test', 'in /w (agent gemini)'],
    ],
    [
      'a long gap as its count, with what follows it',
      command(`ls${' '.repeat(25_000)}; echo HIDDEN`),
      ['$ ls⟨25,000 spaces⟩; echo HIDDEN', 'in /w'],
    ],
    ['hidden characters', command('ls \u{202e}x\tz'), ['$ ls \\u{202e}x⟨tab⟩z', 'in /w']],
  ])('D5 the rows show %s', (_, asked, rows) => {
    expect(approvalFormRows(asked)).toEqual(rows);
  });

  test('D5 a long line continues in the next row, after a mark', () => {
    const words = `echo ${'日本'.repeat(20)}`;
    expect(approvalFormRows(command(words))).toEqual([
      `$ echo ${'日本'.repeat(16)}日`,
      `↳ 本${'日本'.repeat(3)}`,
      'in /w',
    ]);
  });

  test.each<[string, PendingAction]>([
    ['a change of three lines', edit('a\nb\n', 'A\nB\n')],
    ['a command of four lines', command('a\nb\nc\nd')],
    ['a long command', command('x'.repeat(300))],
    [
      'a diff of two files',
      action({
        preview: {
          type: 'diff',
          path: 'a, b',
          diff: '--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ c\n@@ -1 +1 @@\n-a\n+b\n',
        },
      }),
    ],
    [
      'a diff whose counts do not fit',
      action({ preview: { type: 'diff', path: 'a', diff: '--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n+c\n' } }),
    ],
    ['a diff that renames', action({ preview: { type: 'diff', path: 'a', diff: 'rename to b\n' } })],
  ])('D5 an action with %s does not fit: the form links to the page', (_, asked) => {
    expect(approvalFormRows(asked)).toBeUndefined();
    const [ask] = buildFormCandidates({ pending: [asked], question: null }, () => undefined);
    if (ask?.about !== 'page') throw new Error('in a form');
    const rows = ask.message.split('\n');
    expect(rows.length).toBeLessThanOrEqual(MAX_FORM_ROWS);
    expect(rows.at(-1)).toBe('Too long here. Decide on the page. Decline denies it.');
    expect(Math.max(...rows.map((row) => stringWidth(row)))).toBeLessThanOrEqual(FORM_ROW_COLUMNS);
  });

  test('D5 the link to the page shows the action’s size', () => {
    expect(actionSummaryRows(edit(undefined, 'x\n'.repeat(40)))).toEqual(['Create a.txt: +40']);
    expect(actionSummaryRows({ ...edit(undefined, 'x\n'.repeat(40)), workspace: '/home/ann/app' })).toEqual([
      'Create a.txt in /home/ann/app: +40',
    ]);
    const deletes = { type: 'json' as const, value: { deletes: Array.from({ length: 99 }, () => 'a') } };
    expect(
      actionSummaryRows(action({ tool: 'delete-file', title: 'Delete build', preview: deletes })),
    ).toEqual(['Call delete-file: Delete build']);
    expect(actionSummaryRows(command('x\n'.repeat(11)))).toEqual(['Run a command of 12 lines']);
    expect(actionSummaryRows({ ...command('x'.repeat(300)), reason: 'outcome-unknown' })).toEqual([
      expect.stringContaining('RAN BEFORE'),
      'Run a command of 300 characters',
    ]);
  });

  test('X3 a change of 200,000 lines has a summary', () => {
    const diff = `--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,200000 @@\n${'+x\n'.repeat(200_000)}`;
    expect(actionSummaryRows(action({ preview: { type: 'diff', path: 'a.txt', diff } }))).toEqual([
      'Create a.txt: +200000',
    ]);
  });

  // The work to escape the same path is linear. Work that grows with the square would take a hundred times as long.
  test('X3 a long workspace takes little more time than its characters need', () => {
    const workspace = '/a'.repeat(16_000);
    const asked = { ...edit('a\n', 'b\n'), workspace };
    const linear = (): number => cpuMsOf(() => displayWidth(`${visibleLine(workspace)} −1`));
    linear();
    const least = Math.max(5, linear(), linear(), linear());
    expect(cpuMsOf(() => actionSummaryRows(asked)) / least).toBeLessThan(200);
  });

  test('the row has as many of the last directories as fit, also if they are short', () => {
    const [row = ''] = actionSummaryRows({ ...edit('a\n', 'b\n'), workspace: '/a'.repeat(100) });
    expect(row).toMatch(/^Change a\.txt in …(?:\/a)+: \+1 −1$/);
    expect(FORM_ROW_COLUMNS - stringWidth(row)).toBeLessThan(2);
  });
});

const nasty = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.string({ unit: anyCharacter, maxLength: 120 }),
  fc
    .array(
      fc.constantFrom(
        ' ',
        '\n',
        '\t',
        '日本',
        'in /safe',
        'Accept approves it',
        '\u{202e}',
        '\u{1b}[2J',
        '👩‍👩‍👧',
        'x'.repeat(60),
      ),
      {
        maxLength: 12,
      },
    )
    .map((parts) => parts.join('')),
);
const previews: fc.Arbitrary<Preview> = fc.oneof(
  fc.record({ type: fc.constant('command' as const), command: nasty, cwd: nasty }),
  fc.record({ type: fc.constant('url' as const), url: nasty }),
  fc.record({ type: fc.constant('json' as const), value: fc.oneof(fc.jsonValue(), nasty) }),
  fc
    .tuple(nasty, nasty, nasty)
    .map(([path, before, after]) => edit(before, after, visibleLine(path)).preview),
  fc.record({ type: fc.constant('diff' as const), path: nasty, diff: nasty }),
);

test('X3 the rows of an action are computed once, however often the bridge builds its forms', () => {
  const long = edit('', 'line\n'.repeat(20_000));
  const short = command('ls');
  expect(actionSummaryRows(long)).toBe(actionSummaryRows(long));
  expect(approvalFormRows(short)).toBe(approvalFormRows(short));
  expect(approvalFormRows(command('pwd'))).not.toEqual(approvalFormRows(short));
});

describe('the width of a row', () => {
  test.each([
    ['a window of unknown width', undefined, 74],
    ['a wide window', 160, 74],
    ['a window of 80 columns', 80, 74],
    ['a window of 60 columns', 60, 54],
    ['a window without room', 3, 10],
  ])('%s', (_, window, columns) => {
    expect(formRowColumns(window)).toBe(columns);
  });

  test('D5 a command of two rows at 80 columns that has more than four rows at 60 columns is not approved in the form', () => {
    const text = `echo ${'a'.repeat(120)}\necho ${'b'.repeat(30)}`;
    expect(approvalFormRows(command(text))?.length).toBe(4);
    expect(approvalFormRows(command(text), formRowColumns(60))).toBeUndefined();
  });

  test('in a window of 60 columns a warning breaks between two words', () => {
    const asked = { ...command('ls'), reason: 'outcome-unknown' as const };
    expect(approvalFormRows(asked, formRowColumns(60))).toEqual([
      'It RAN BEFORE, outcome unknown. Accept runs it AGAIN,',
      '↳ Decline skips it.',
      '$ ls',
      'in /w',
    ]);
  });
});

describe('the rows of any preview', () => {
  test('D5 a form has at most four rows, each fits into 80 columns, and a mark precedes foreign text', () => {
    fc.assert(
      fc.property(
        previews,
        fc.constantFrom('approval', 'outcome-unknown', 'content-changed'),
        (preview, reason) => {
          const asked = action({ preview, reason });
          const rows = approvalFormRows(asked) ?? actionSummaryRows(asked);
          expect(rows.length).toBeLessThanOrEqual(MAX_FORM_ROWS);
          for (const row of rows) {
            expect(row).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
            expect(stringWidth(row)).toBeLessThanOrEqual(FORM_ROW_COLUMNS);
            expect(row).toMatch(
              /^(?:[-+$>│↳](?: |$)|It (?:RAN|CHANGED)|(?:Create|Change|Delete|Call|Run|in)(?: |$))/,
            );
          }
        },
      ),
    );
  });

  test('D5 in a window of 60 columns every row fits', () => {
    const columns = formRowColumns(60);
    fc.assert(
      fc.property(previews, (preview) => {
        const asked = action({ preview });
        for (const row of approvalFormRows(asked, columns) ?? actionSummaryRows(asked, columns))
          expect(stringWidth(row)).toBeLessThanOrEqual(columns);
      }),
    );
  });

  test('D5 two different commands never look the same in a form that can approve them', () => {
    const texts = fc.oneof(
      nasty,
      fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\\', '\t', '⇥', '↳', '>'), maxLength: 90 }),
    );
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        fc.pre(one !== other && one.trimEnd() !== other.trimEnd());
        const rows = approvalFormRows(command(one));
        fc.pre(rows !== undefined);
        expect(approvalFormRows(command(other))).not.toEqual(rows);
      }),
      { numRuns: numberOfRuns(300) },
    );
  });

  test('D5 a form that can approve a file change shows every changed line', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', '-', '+', '@', ' '), maxLength: 6 });
    const file = fc.array(line, { maxLength: 5 }).map((lines) => lines.map((each) => `${each}\n`).join(''));
    fc.assert(
      fc.property(file, file, (before, after) => {
        const asked = edit(before, after);
        const rows = approvalFormRows(asked);
        fc.pre(rows !== undefined && before !== after);
        const { diff } = asked.preview.type === 'diff' ? asked.preview : { diff: '' };
        const changed = diff
          .slice(diff.indexOf('\n@@'))
          .split('\n')
          .filter((each) => /^[-+]/.test(each))
          .map((each) => `${each.charAt(0)} ${each.slice(1)}`.trimEnd());
        expect(rows?.slice(1)).toEqual(changed);
      }),
      { numRuns: numberOfRuns(200) },
    );
  });
});
