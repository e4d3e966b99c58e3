/** Formats one line of the log for a person: time, level, message and other fields. Pure. */
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';
import { z } from 'zod';
import type { Paint, TerminalStyle } from './paint.ts';

/** The latest time that `Date` can represent, in milliseconds. */
const MAX_TIME_MS = 8.64e15;
const entry = z.looseObject({
  time: z.number().min(-MAX_TIME_MS).max(MAX_TIME_MS),
  level: z.number(),
  msg: z.string().default(''),
});

const LEVELS: readonly (readonly [number, string, TerminalStyle])[] = [
  [60, 'fatal', 'red'],
  [50, 'error', 'red'],
  [40, 'warn', 'yellow'],
  [30, 'info', 'green'],
  [20, 'debug', 'gray'],
  [0, 'trace', 'gray'],
];
const STANDARD_LOG_KEYS = new Set(['time', 'level', 'msg', 'pid', 'hostname', 'name']);

/** Formats a JSON log line. Returns any other line, e.g. of a crash, with its hidden characters escaped. */
export function logLine(line: string, paint: Paint): string {
  const parsed = entry.safeParse(parseJson(line));
  if (!parsed.success) return visibleLine(line);
  const { time, level, msg, ...others } = parsed.data;
  const [, word, style] = LEVELS.find(([least]) => level >= least) ?? [0, 'trace', 'gray' as const];
  const facts = Object.entries(others)
    .filter(([key]) => !STANDARD_LOG_KEYS.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
  const at = new Date(time).toISOString().slice(0, 19).replace('T', ' ');
  return `${paint('gray', at)} ${paint(style, word.padEnd(5))} ${visibleLine(msg)}${facts === '' ? '' : ` ${paint('gray', visibleLine(facts))}`}`;
}

/** Returns a JSON log line unchanged. Converts any other line, e.g. of a crash, to JSON with the field `msg`. */
export function jsonLogLine(line: string): string {
  return z.looseObject({}).safeParse(parseJson(line)).success ? line : JSON.stringify({ msg: line });
}
