/** Adds colours to text if the terminal supports them. */
import { styleText } from 'node:util';
import type { Environment } from '../../../shared/runtime/environment.ts';
import type { SessionStateName } from '../../dialects/observation.ts';

export type TerminalStyle = 'red' | 'green' | 'yellow' | 'cyan' | 'gray' | 'bold';
export type Paint = (style: TerminalStyle, text: string) => string;

export const paintNothing: Paint = (_, text) => text;
export const paintWithColour: Paint = (style, text) => styleText(style, text);

/**
 * Returns true if the output should have colours. https://no-color.org: a non-empty `NO_COLOR` disables colours, even
 * if `FORCE_COLOR` is set. `FORCE_COLOR` enables or disables colours even if stdout is not a terminal.
 */
export function wantsColour(env: Environment, isTerminal: boolean): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

/** Matches the header of a hunk. Its groups are the counts of old lines and of new lines. A missing count means 1. */
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * Colours a unified diff line by line. A line may start with the prefix `│ `.
 * @param wrap splits a long line into rows
 */
export function paintDiff(diff: string, paint: Paint, wrap = (line: string): string => line): string {
  // How many old and new lines of the hunk still follow. In a hunk, `--- x` is the removed line `-- x`, and not a
  // header.
  let left = { old: 0, new: 0 };
  return diff
    .split('\n')
    .map((marked) => {
      const line = marked.replace(/^│ /, '');
      const rows = wrap(marked);
      if (line.startsWith('@@')) {
        const [, before = '1', after = '1'] = HUNK.exec(line) ?? [undefined, '0', '0'];
        left = { old: Number(before), new: Number(after) };
        return paint('cyan', rows);
      }
      const isHeader = left.old <= 0 && left.new <= 0 && /^(\+\+\+|---)/.test(line);
      if (isHeader) return paint('bold', rows);
      if (!/^[+\\]/.test(line)) left.old -= 1;
      if (!/^[-\\]/.test(line)) left.new -= 1;
      if (line.startsWith('+')) return paint('green', rows);
      if (line.startsWith('-')) return paint('red', rows);
      return rows;
    })
    .join('\n');
}

const STATE_STYLES: Readonly<Record<SessionStateName, TerminalStyle>> = {
  submitted: 'cyan',
  working: 'cyan',
  'input-required': 'yellow',
  'auth-required': 'yellow',
  completed: 'green',
  canceled: 'gray',
  failed: 'red',
  rejected: 'red',
  unknown: 'gray',
  'not-delivered': 'red',
  'unknown-to-agent': 'red',
};

export const styleOfState = (state: SessionStateName): TerminalStyle => STATE_STYLES[state];
