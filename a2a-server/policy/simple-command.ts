/**
 * Parses a command line into a plain list of words. Accepts only one program with fixed arguments. Returns undefined
 * for compounds, pipes, redirections, expansions, substitutions, comments, globs, line breaks, and assignments before
 * the command. If the meaning is uncertain, also returns undefined (fail closed).
 */
import { parse } from 'shell-quote';

/** The shell that reads the command line: `/bin/sh`, or `cmd` on Windows. */
export type Shell = 'sh' | 'cmd';

/** The parser needs more than linear time. A longer command line waits for a decision. */
const MAX_COMMAND_CHARS = 4096;

/**
 * The parser and the shell may read these characters differently, even inside quotes. They are expansions, escapes,
 * line breaks, and unusual white space.
 */
const UNCERTAIN = /[$`\\]|(?! )\s|\p{Cc}/u;
/** Matches a text in which each quote has its closing quote. */
const BALANCED = /^(?:[^'"]|'[^']*'|"[^"]*")*$/u;
const QUOTED = /'[^']*'|"[^"]*"/gu;
/** Matches braces, a glob, or a home directory outside of quotes. The parser does not report them. */
const EXPANDED = /[{[]|(?<![^\s=:])~/u;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/u;

/** The characters without a special meaning in `cmd`. */
const PLAIN_TO_CMD = /^[\w ./:=,@+-]+$/u;

export function simpleCommandWords(command: string, shell: Shell): readonly string[] | undefined {
  if (command.length > MAX_COMMAND_CHARS || UNCERTAIN.test(command) || !BALANCED.test(command))
    return undefined;
  if (shell === 'cmd' && !PLAIN_TO_CMD.test(command)) return undefined;
  if (EXPANDED.test(command.replaceAll(QUOTED, '_'))) return undefined;
  const words: string[] = [];
  for (const token of parse(command)) {
    if (typeof token !== 'string') return undefined;
    words.push(token);
  }
  return words.length === 0 || ASSIGNMENT.test(words[0] ?? '') ? undefined : words;
}
