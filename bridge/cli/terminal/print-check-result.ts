import type { CheckResult } from '../../../shared/runtime/check-result.ts';
import { visibleText } from '../../../shared/text/visible-text.ts';
import type { TerminalStyle } from './paint.ts';
import type { Terminal } from './terminal.ts';
import { wrapIndented } from './rows.ts';

const LEVEL_MARKS: Readonly<Record<CheckResult['level'], readonly [string, TerminalStyle]>> = {
  ok: ['✓', 'green'],
  warn: ['!', 'yellow'],
  fail: ['✗', 'red'],
};

/** Prints the result of a check, and its next step in a line of its own. */
export function printCheckResult(terminal: Terminal, result: CheckResult): void {
  print(terminal, '', result);
}

/** Prints the result of a check, after the subject that was checked. */
export function printCheckResultWithSubject(terminal: Terminal, result: CheckResult): void {
  print(terminal, `${terminal.paint('bold', result.subject)}: `, result);
}

function print(terminal: Terminal, about: string, { level, message, next }: CheckResult): void {
  const { paint, width } = terminal;
  const [mark, style] = LEVEL_MARKS[level];
  terminal.say(wrapIndented(`${paint(style, mark)} ${about}${visibleText(message)}`, '  ', width));
  if (next !== undefined) terminal.say(wrapIndented(`  → ${visibleText(next)}`, '    ', width));
}
