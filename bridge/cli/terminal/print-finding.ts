import type { CheckResult } from '../../../shared/runtime/check-result.ts';
import { visibleText } from '../../../shared/text/visible-text.ts';
import type { TerminalStyle } from './paint.ts';
import type { Terminal } from './terminal.ts';
import { wrapIndented } from './wrap-words.ts';

const LEVEL_MARKS: Readonly<Record<CheckResult['level'], readonly [string, TerminalStyle]>> = {
  ok: ['✓', 'green'],
  warn: ['!', 'yellow'],
  fail: ['✗', 'red'],
};

/** Prints the result of a check, and its next step in a line of its own. @param subject what was checked */
export function printFinding(
  terminal: Terminal,
  { level, message, next }: CheckResult,
  subject?: string,
): void {
  const { paint, width } = terminal;
  const [mark, style] = LEVEL_MARKS[level];
  const about = subject === undefined ? '' : `${paint('bold', subject)}: `;
  terminal.say(wrapIndented(`${paint(style, mark)} ${about}${visibleText(message)}`, '  ', width));
  if (next !== undefined) terminal.say(wrapIndented(`  → ${visibleText(next)}`, '    ', width));
}
