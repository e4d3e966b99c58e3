/**
 * A command line as a plain list of words, or not at all. Whatever could make the shell do more than run that one program
 * with those arguments is no plain list: compounds, pipes, redirections, expansions, substitutions, comments, globs,
 * several lines, assignments before the command. It fails closed: what is not understood for certain is no list either.
 */
import { parse } from 'shell-quote';

/** Which shell reads the command line: `/bin/sh`, or `cmd` on Windows. */
export type Shell = 'sh' | 'cmd';

/** Longer ones are asked about: the parser's time grows faster than the text. */
const MAX_LENGTH = 4096;

/**
 * What the parser and the shell need not agree on, in quotes or out of them: expansions, escapes, line breaks, and white
 * space that is none to the shell.
 */
const UNCERTAIN = /[$`\\]|(?! )\s|\p{Cc}/u;
const BALANCED = /^(?:[^'"]|'[^']*'|"[^"]*")*$/u;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/u;

/** `cmd` has rules of its own for nearly every sign: what has none of them means the same to it. */
const PLAIN_TO_CMD = /^[\w ./:=,@+-]+$/u;

export function plainWords(command: string, shell: Shell): readonly string[] | undefined {
  if (command.length > MAX_LENGTH || UNCERTAIN.test(command) || !BALANCED.test(command)) return undefined;
  if (shell === 'cmd' && !PLAIN_TO_CMD.test(command)) return undefined;
  const words: string[] = [];
  for (const token of parse(command)) {
    if (typeof token !== 'string') return undefined;
    words.push(token);
  }
  return words.length === 0 || ASSIGNMENT.test(words[0] ?? '') ? undefined : words;
}
