/**
 * Decides whether any part of a command line may run a given program with given arguments. Unlike `simpleCommandWords`,
 * the search also reads quotes, substitutions and nested shells. The result is `maybe` if only the shell or another
 * program knows the words. Examples are expansions, globs, `xargs`, `env` and `git -c`.
 *
 * The search finds only programs that the command line names. It does not confine a process, because a script may run
 * any program.
 */
import type { Shell } from './simple-command.ts';

export type MatchCertainty = 'yes' | 'maybe' | 'no';

/**
 * The search needs more than linear time. X3: the input is limited, so that a long command cannot block the process.
 */
const MAX_COMMAND_CHARS = 10_000;

/** The characters that start an expansion. The shell expands words before it looks for the program. */
const EXPANSION: Readonly<Record<Shell, RegExp>> = { sh: /[$`]/u, cmd: /[%!]/u };
/**
 * Matches quotes and escapes. The search removes them first, because they can hide words: `g"i"t`, `sh -c 'git push'`.
 */
const HIDING = /[\\^]\r?\n|['"\\^]/gu;
const COMMAND_SEPARATOR = /[;&|()<>{}`\n\r]+/u;
/** Matches a redirection. `bash` also reads `&>file` and `{name}>file`, and /bin/sh may be `bash`. */
const REDIRECTION = /(?:&(?=>)|\{\w+\}(?=[<>])|(?<!\d)\d*)(?:<>|<<<|<<-?|>>|>\||[<>]&?)[ \t]*[^\s;&|()<>]+/gu;
const GLOB = /[*?]|\[[^\]]/u;
/** Matches braces, which bash expands to several words. On macOS, /bin/sh is bash. */
const BRACES = /\{[^\s{}]*(?:,|\.\.)[^\s{}]*\}/u;
const QUOTED = /'[^']*'|"(?:[^"\\]|\\.)*"/gu;
/** Matches a comment, or an escape or a quoted text that belongs to one word. */
const ONE_WORD: Readonly<Record<Shell, RegExp>> = {
  sh: /(?<![^\s;&|()<>])#.*|\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*"/gu,
  cmd: /\^[^]|"[^"]*"/gu,
};
/** Matches the characters that end a word, unless they are quoted or escaped. */
const WORD_END = /[\s;&|()<>{}`]/gu;
const ASSIGNMENT = /^[a-z_]\w*\+?=/u;

/** The programs and shell words that can build or run a different command. */
const RUNNERS: ReadonlySet<string> = new Set(
  'alias . ash bash busybox csh dash env eval find fish hash ksh mksh nice parallel pwsh rbash sh source tcsh xargs yash zsh'.split(
    ' ',
  ),
);
/** Matches words that change settings. A setting can define an alias: `git -c alias.x=push x`. */
const SETTING = /^(?:-c|--config|config$)/u;

/** @param words the program and its first arguments, as a rule names them. Not empty. */
export function checkCommandMention(command: string, words: readonly string[], shell: Shell): MatchCertainty {
  if (command.length > MAX_COMMAND_CHARS) return 'maybe';
  const wanted = words.map((word) => word.toLowerCase());
  // A redirection may be anywhere, and an argument may look like a redirection. So the search tries the text with and
  // without redirections.
  const parts = searchedTexts(command, shell)
    .map((text) => text.replaceAll(HIDING, '').toLowerCase())
    .flatMap((text) => [text, text.replaceAll(REDIRECTION, ' ')])
    .flatMap((text) => text.split(COMMAND_SEPARATOR))
    .map(wordsOf);
  if (parts.some((part) => runsProgram(part, wanted))) return 'yes';
  if (EXPANSION[shell].test(command) || BRACES.test(command)) return 'maybe';
  if (parts.some((part) => part.some((word) => RUNNERS.has(ownName(word))))) return 'maybe';
  // A glob in quotes is a literal word, unless a shell reads the word again (see RUNNERS). After an escaped quote, a
  // comment or a second line, the start of the quotes is uncertain. Then the search also reads the quoted text.
  const quotes = /[\\#\r\n]/u.test(command) ? command : command.replaceAll(QUOTED, '');
  const globs = quotes.split(COMMAND_SEPARATOR).flatMap(wordsOf);
  if (globs.some((word) => GLOB.test(word))) return 'maybe';
  return isSetUp(parts, wanted[0] ?? '') ? 'maybe' : 'no';
}

/**
 * Returns the texts in which the search looks for words. In the first text, quotes do not count, because a nested shell
 * may read the quoted words. In the others, a quoted text is one word: `git --git-dir "a b" push`. The last text reads
 * each line alone, because an apostrophe in a here-document does not open a quote.
 */
function searchedTexts(command: string, shell: Shell): readonly string[] {
  const joined = (text: string): string =>
    text.replaceAll(ONE_WORD[shell], (found) =>
      found.startsWith('#') || /^[\\^]\r?\n/u.test(found) ? found : found.replaceAll(WORD_END, '_'),
    );
  return [command, joined(command), command.split('\n').map(joined).join('\n')];
}

function wordsOf(part: string): string[] {
  return part.split(/\s+/u).filter((word) => word !== '');
}

function ownName(word: string): string {
  return word.split('/').at(-1) ?? '';
}

/**
 * Returns true if variables or settings may change the meaning of the program's arguments. One part may set a variable
 * for a later part, e.g. `export GIT_CONFIG_COUNT=1 …; git x`.
 */
function isSetUp(parts: readonly (readonly string[])[], name: string): boolean {
  const starts = parts.map((words) => words.findIndex((word, index) => isProgram(word, name, index)));
  if (starts.every((at) => at === -1)) return false;
  return parts.some((words, part) => {
    const at = starts[part] ?? -1;
    const before = at === -1 ? words : words.slice(0, at);
    return (
      before.some((word) => ASSIGNMENT.test(word)) ||
      (at !== -1 && words.slice(at + 1).some((word) => SETTING.test(word)))
    );
  });
}

/** Returns true if the words run the program, even through another program: `sudo git push`, `env A=1 git push`. */
function runsProgram(words: readonly string[], wanted: readonly string[]): boolean {
  return words.some(
    (word, at) => isProgram(word, wanted[0] ?? '', at) && followInOrder(words.slice(at + 1), wanted),
  );
}

function isProgram(word: string, name: string, at: number): boolean {
  const own = ownName(word);
  return word === name || own === name || own === `${name}.exe` || (at === 0 && GLOB.test(own));
}

/** Returns true if the rule's other words follow in order. Only options and their values may be between them. */
function followInOrder(words: readonly string[], [, ...rest]: readonly string[]): boolean {
  let at = 0;
  for (const wanted of rest) {
    while (at < words.length && !isWord(words[at] ?? '', wanted)) {
      const option = (words[at] ?? '').startsWith('-');
      if (!option) return false;
      // The next word is the option's value, unless it is the wanted word.
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
