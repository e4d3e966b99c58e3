/**
 * Whether any part of a command line may run a program with given arguments. The opposite of `plainWords`: it reads
 * widely, into quotes, substitutions and nested shells. It says `maybe` where only the shell, or a program that runs other
 * programs, knows the words: expansions, globs, `xargs`, `env`, `git -c`.
 * It is a guard against what is asked for openly, not a confinement: a script may run anything.
 */
import type { Shell } from './plain-words.ts';

export type Mention = 'yes' | 'maybe' | 'no';

/** Longer ones are not read: that takes time that grows faster than the text (X3). */
const MAX_LENGTH = 10_000;

/** What the shell replaces before it looks for a program's name. */
const EXPANSION: Readonly<Record<Shell, RegExp>> = { sh: /[$`]/u, cmd: /[%!]/u };
/** Quotes and escapes hide words from nobody: `g"i"t`, `sh -c 'git push'`, `git \` at the end of a line. */
const HIDING = /[\\^]\r?\n|['"\\^]/gu;
/** Between one command and the next, however they hang together. */
const BETWEEN = /[;&|()<>{}`\n\r]+/u;
const REDIRECTION = /(?<!\d)\d*(?:<>|<<<|<<-?|>>|>\||[<>]&?)[ \t]*[^\s;&|()<>]+/gu;
const GLOB = /[*?]|\[[^\]]/u;
/** bash, which is /bin/sh on macOS, makes several words of one. */
const BRACES = /\{[^\s{}]*(?:,|\.\.)[^\s{}]*\}/u;
const QUOTED = /'[^']*'|"(?:[^"\\]|\\.)*"/gu;
const ASSIGNMENT = /^[a-z_]\w*\+?=/u;

/** Programs and words of the shell that make a command of more than the words that follow them. */
const RUNNERS: ReadonlySet<string> = new Set(
  'alias . bash busybox dash env eval find ksh nice parallel sh source xargs zsh'.split(' '),
);
/** Options that give a program settings for one run, such as an alias: `git -c alias.x=push x`. */
const SETTING = /^(?:-c|--config)/u;

/** @param words the program and its first arguments, as a rule has them; not empty. */
export function mentions(command: string, words: readonly string[], shell: Shell): Mention {
  if (command.length > MAX_LENGTH) return 'maybe';
  const open = command.replaceAll(HIDING, '').toLowerCase();
  const wanted = words.map((word) => word.toLowerCase());
  // A redirection may stand anywhere in a command, and what looks like one may be an argument: both readings count.
  const parts = [open, open.replaceAll(REDIRECTION, ' ')].flatMap((text) => text.split(BETWEEN)).map(wordsOf);
  if (parts.some((part) => runs(part, wanted))) return 'yes';
  if (EXPANSION[shell].test(command) || BRACES.test(command)) return 'maybe';
  if (parts.some((part) => part.some((word) => RUNNERS.has(ownName(word))))) return 'maybe';
  // A glob in quotes is a word as it stands, unless a shell reads it again: that was a runner.
  const globs = command.replaceAll(QUOTED, '').split(BETWEEN).flatMap(wordsOf);
  if (globs.some((word) => GLOB.test(word))) return 'maybe';
  return parts.some((part) => isSetUp(part, wanted[0] ?? '')) ? 'maybe' : 'no';
}

function wordsOf(part: string): string[] {
  return part.split(/\s+/u).filter((word) => word !== '');
}

function ownName(word: string): string {
  return word.split('/').at(-1) ?? '';
}

/** Whether the program runs with variables or settings that may give its arguments another meaning. */
function isSetUp(words: readonly string[], name: string): boolean {
  const at = words.findIndex((word, index) => isProgram(word, name, index));
  if (at === -1) return false;
  return (
    words.slice(0, at).some((word) => ASSIGNMENT.test(word)) ||
    words.slice(at + 1).some((word) => SETTING.test(word))
  );
}

/** Also behind another program: `sudo git push`, `env A=1 git push`. */
function runs(words: readonly string[], wanted: readonly string[]): boolean {
  return words.some(
    (word, at) => isProgram(word, wanted[0] ?? '', at) && follow(words.slice(at + 1), wanted),
  );
}

function isProgram(word: string, name: string, at: number): boolean {
  const own = ownName(word);
  return word === name || own === name || own === `${name}.exe` || (at === 0 && GLOB.test(own));
}

/** Whether the rest of the rule's words come in order, with nothing in between but options and their values. */
function follow(words: readonly string[], [, ...rest]: readonly string[]): boolean {
  let at = 0;
  for (const wanted of rest) {
    while (at < words.length && !isWord(words[at] ?? '', wanted)) {
      const option = (words[at] ?? '').startsWith('-');
      if (!option) return false;
      // Its value, if the next is not what is looked for.
      const value = words[at + 1];
      at += value !== undefined && !value.startsWith('-') && !isWord(value, wanted) ? 2 : 1;
    }
    if (at >= words.length) return false;
    at += 1;
  }
  return true;
}

function isWord(word: string, wanted: string): boolean {
  return word === wanted || GLOB.test(word);
}
