/** Tests how a terminal shows a pending action to the person who decides it. */
import { describe, expect, test } from '@jest/globals';
import stringWidth from 'string-width';
import { actionText } from '../../../../../bridge/cli/terminal/action-text.ts';
import { paintNothing } from '../../../../../bridge/cli/terminal/paint.ts';
import type { PendingAction } from '../../../../../shared/protocol/tool-approval.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const IMITATION = 'Approve Run `ls` (babacb68)? [y/n] y';
const command = (text: string): PendingAction => ({
  ...pendingWrite('call-1'),
  tool: 'run-shell-command',
  title: `Run \`${text}\``,
  sideEffect: 'command',
  preview: { type: 'command', command: text, cwd: `/home/ann/${'d'.repeat(76)}` },
});
const rowsAt = (width: number, action: PendingAction): string[] =>
  actionText(action, { paint: paintNothing, width }).split('\n');

describe('D5 an action at a terminal', () => {
  test.each([20, 60, 80])(
    'in %i columns, no row is wider, and no text of the agent begins a row',
    (columns) => {
      // These lengths put the imitation at the end of a row, or at the start of the next one.
      for (let pad = columns - 16; pad < columns - 4; pad += 1) {
        const rows = rowsAt(columns, command(`echo ${'a'.repeat(pad)} ${IMITATION}`));
        for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(columns);
        for (const row of rows.slice(1)) expect(row).not.toMatch(/^\s*Approve/);
      }
    },
  );

  test('a row that continues a line is marked, and the rows hold the whole command', () => {
    const text = `echo ${'0123456789'.repeat(20)} && rm -rf build`;
    const rows = rowsAt(60, command(text));
    const from = rows.findIndex((row) => row.startsWith('│ $ '));
    const to = rows.findIndex((row) => row.startsWith('(in '));
    const [first = '', ...more] = rows.slice(from, to);
    for (const row of more) expect(row).toMatch(/^↳ /);
    expect(first.slice(4) + more.map((row) => row.slice(2)).join('')).toBe(text);
  });

  test('a mark stands beside each word from right to left, so that the terminal shows the words in their order', () => {
    const action = command('cp 1 \u05d0 2 > \u05d1');
    expect(rowsAt(80, action)).toContain('│ $ cp 1 \u200e\u05d0\u200e 2 > \u200e\u05d1\u200e');
  });

  test('the facts of the program continue with a whole word, also in a narrow terminal', () => {
    const action = { ...command('ls'), expiresAt: '2026-12-04T10:24:00.924Z' };
    expect(rowsAt(80, action)[1]).toBe(
      'run-shell-command (built in), runs a command, waits until 2026-12-04 10:24 UTC',
    );
    expect(rowsAt(40, action).slice(2, 4)).toEqual([
      'run-shell-command (built in), runs a',
      '↳ command, waits until 2026-12-04 10:24',
    ]);
    const question = { ...action, sideEffect: 'none' as const };
    expect(rowsAt(80, question)[1]).toBe('run-shell-command (built in), waits until 2026-12-04 10:24 UTC');
  });

  test('a tab counts up to the next tab stop', () => {
    const rows = rowsAt(20, command(`a\tb\t${'c'.repeat(8)}`));
    const from = rows.indexOf('│ $ a\tb\tcccc');
    expect(rows[from + 1]).toBe('↳ cccc');
    expect(rows[0]).toBe('Run `a⟨tab⟩b⟨tab⟩cc…');
  });

  test('a change of a file names the workspace once, below the diff', () => {
    const rows = rowsAt(80, pendingWrite('call-1', { workspace: '/home/ann/app\u{202e}' }));
    expect(rows.at(-1)).toBe('(in /home/ann/app\\u{202e})');
    expect(rows.filter((row) => row.includes('/home/ann/app'))).toHaveLength(1);
    expect(rowsAt(80, pendingWrite('call-1')).at(-1)).toBe('│ +hello');
  });

  test('a pipe gets each line whole', () => {
    const text = `echo ${'a'.repeat(300)}`;
    const lines = actionText(command(text), { paint: paintNothing, width: undefined }).split('\n');
    expect(lines).toContain(`│ $ ${text}`);
    expect(lines[0]).toContain(`Run \`${text}\`  call call-1, code `);
  });

  test('the choices of a question have the numbers that a person may type', () => {
    const choices = [{ label: 'red', description: 'as before' }, { label: 'blue' }];
    const question = { type: 'question' as const, text: 'Which?', choices };
    expect(rowsAt(80, pendingWrite('call-1', { preview: question })).slice(-2)).toEqual([
      '│ 1. red: as before',
      '│ 2. blue',
    ]);
  });

  test('it says in minutes until when the action waits', () => {
    const action = { ...pendingWrite('call-1'), expiresAt: '2026-12-04T10:24:00.924Z' };
    expect(rowsAt(120, action)[1]).toMatch(/, waits until 2026-12-04 10:24 UTC$/);
    expect(rowsAt(120, { ...action, expiresAt: 'soon' })[1]).toMatch(/, waits until soon$/);
  });
});
