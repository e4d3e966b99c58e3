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

/** X3: the maximum number of characters that the search reads in total. It may read one line several times. */
const MAX_READ_CHARS = 100_000;

/**
 * X3: the search reads the words behind each word that may be the program. With more such words than this, the result
 * is `yes` or `maybe`.
 */
const MAX_STARTS = 30;

/** Matches what the shell expands before it looks for the program. `<(…)` becomes a path. */
const EXPANSION: Readonly<Record<Shell, RegExp>> = { sh: /[$`]|[<>]\(/u, cmd: /[%!]/u };
/**
 * Matches quotes, escapes, and line ends that are escaped. The search removes them first, because they can hide words:
 * `g"i"t`, `sh -c 'git push'`. A line end after two backslashes is not escaped.
 */
const HIDING: Readonly<Record<Shell, RegExp>> = {
  sh: /\\\n(?<=(?<!\\)(?:\\\\)*\\\n)|['"\\]/gu,
  cmd: /\^\r?\n|["^]/gu,
};
/** Matches the characters between commands, as `sh` reads them. A brace may be a part of a word: `git -C {} push`. */
const COMMAND_SEPARATOR = /[;&|()<>`\n]+/u;
/** Matches the characters between commands, as other shells may read them: also braces and `\r`. */
const SEPARATOR_OR_BRACE = /[;&|()<>{}`\n\r]+/u;
/** Matches a redirection. `bash` also reads `&>file`, `{name}>file` and `<&-word`, and /bin/sh may be `bash`. */
const REDIRECTION =
  /(?:&(?=>)|\{\w+\}(?=[<>])|(?<!\d)\d*)(?:[<>]&\d*-|(?:<>|<<<|<<-?|>>|>\||[<>]&?)[ \t]*[^ \t\n;&|()<>]+)/gu;
const GLOB = /[*?]|\[\]?[^\]]/u;
/** Matches braces, which bash expands to several words. On macOS, /bin/sh is bash. */
const BRACES = /\{[^\s{}]*(?:,|\.\.)[^\s{}]*\}/u;
const QUOTED = /'[^']*'|"(?:[^"\\]|\\.)*"/gu;
/** Matches a comment, or an escape or a quoted text that belongs to one word. */
const ONE_WORD: Readonly<Record<Shell, RegExp>> = {
  sh: /(?<![^\s;&|()<>])#.*|\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*"/gu,
  cmd: /\^[^]|"[^"]*"/gu,
};
/** Matches a line up to a line end that is neither quoted nor escaped. */
const LOGICAL_LINE: Readonly<Record<Shell, RegExp>> = {
  sh: new RegExp(`(?:${ONE_WORD.sh.source}|[^\\n])*`, 'uy'),
  cmd: new RegExp(`(?:${ONE_WORD.cmd.source}|[^\\n])*`, 'uy'),
};
/** Matches the characters that end a word, unless they are quoted or escaped. */
const WORD_END = /[\s;&|()<>{}`]/gu;
const ASSIGNMENT = /^[a-z_]\w*\+?=/u;
/** Matches words that export variables. Such a variable may have a value without an assignment, e.g. from `read`. */
const EXPORT = /\b(?:declare|export|set -(?:\w*a|o allexport)|typeset)\b/u;

const PROGRAM_ENDING = /\.(?:bat|cmd|com|exe)$/u;

/** The programs and shell words that can build or run a different command. */
const RUNNERS: ReadonlySet<string> = new Set(
  'alias . ash bash busybox csh dash env eval find fish hash ksh mksh nice parallel powershell pwsh rbash sh source tcsh xargs yash zsh'.split(
    ' ',
  ),
);
/** Matches words that change settings. A setting can define an alias: `git -c alias.x=push x`. */
const SETTING = /^(?:-c|--config|config$)/u;

/**
 * Returns whether some part of the command line runs the program with these arguments.
 * @param words the program and its first arguments, as a rule names them. Not empty.
 */
export function checkCommandMention(command: string, words: readonly string[], shell: Shell): MatchCertainty {
  if (command.length > MAX_COMMAND_CHARS) return 'maybe';
  const wanted = words.map((word) => word.toLowerCase());
  const texts = searchedTexts(command, shell);
  // If `texts` is undefined, the texts are too long. Then the search reads only the command itself.
  // A redirection may be anywhere, and an argument may look like a redirection. So the search tries the text with and
  // without redirections.
  const parts = (texts ?? [command])
    .map((text) => text.replaceAll(HIDING[shell], '').toLowerCase())
    .flatMap((text) => [text, text.replaceAll(REDIRECTION, ' ')])
    .flatMap(partsOf);
  const found = parts.map((part) => findWords(part, wanted));
  if (found.includes('yes')) return 'yes';
  if (found.includes('maybe')) return 'maybe';
  if (texts === undefined || EXPANSION[shell].test(command) || texts.some((text) => BRACES.test(text)))
    return 'maybe';
  if (parts.some((part) => part.some((word) => RUNNERS.has(ownName(word))))) return 'maybe';
  // A glob in quotes is a literal word, unless a shell reads the word again (see RUNNERS). After an escaped quote, a
  // comment or a second line, the start of the quotes is uncertain. Then the search also reads the quoted text.
  const quotes = /[\\#\r\n]/u.test(command) ? command : command.replaceAll(QUOTED, '_');
  if (partsOf(quotes).some((part) => part.some((word) => GLOB.test(word)))) return 'maybe';
  return isSetUp(parts, wanted[0] ?? '') ? 'maybe' : 'no';
}

/**
 * Returns the texts in which the search looks for words. In the first text, quotes do not count, because a nested shell
 * may read the quoted words. In the others, a quoted text is one word: `git --git-dir "a b" push`. Such a text starts
 * at each line, because a quote or a backslash before that line may mean nothing. For example, an apostrophe in a
 * here-document opens no quote, and a backslash in a comment escapes no line end. Returns undefined if the texts are
 * longer than MAX_READ_CHARS.
 */
function searchedTexts(command: string, shell: Shell): readonly string[] | undefined {
  const logicalLine = LOGICAL_LINE[shell];
  const lines: string[] = [];
  let start = 0;
  let chars = 0;
  for (const { length } of command.split('\n')) {
    logicalLine.lastIndex = start;
    const [line = ''] = logicalLine.exec(command) ?? [];
    lines.push(line);
    start += length + 1;
    chars += line.length;
    if (chars > MAX_READ_CHARS) return undefined;
  }
  const joined = lines.map((line) =>
    line.replaceAll(ONE_WORD[shell], (found) =>
      found.startsWith('#') || /^[\\^]\r?\n/u.test(found) ? found : found.replaceAll(WORD_END, '_'),
    ),
  );
  return [command, ...joined];
}

/**
 * Returns the words of each command in the text. It splits the text twice: as `sh` does, and also at braces and at any
 * white space, as other shells may.
 */
function partsOf(text: string): readonly (readonly string[])[] {
  return [
    ...text.split(COMMAND_SEPARATOR).map((part) => part.split(/[ \t]+/u)),
    ...text.split(SEPARATOR_OR_BRACE).map((part) => part.split(/\s+/u)),
  ].map((words) => words.filter((word) => word !== ''));
}

/** Returns a program's name without its directory, and without the ending that `cmd` does not need. */
function ownName(word: string): string {
  return (word.split(/[\\/]/u).at(-1) ?? '').replace(PROGRAM_ENDING, '');
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
      EXPORT.test(before.join(' ')) ||
      (at !== -1 && words.slice(at + 1).some((word) => SETTING.test(word)))
    );
  });
}

/**
 * Searches one command for the rule's words, even behind another program: `sudo git push`, `env A=1 git push`. For
 * another spelling of the words, returns `maybe`: `npm publi`, `git-push`, `pip3 install`, and an option in another
 * form.
 */
function findWords(words: readonly string[], wanted: readonly string[]): MatchCertainty {
  const name = (wanted[0] ?? '').replace(PROGRAM_ENDING, '');
  const starts = words.flatMap((word, at) =>
    isProgram(word, wanted[0] ?? '', at) || isVariant(ownName(word), name) ? [at] : [],
  );
  const runs = (at: number): boolean =>
    isProgram(words[at] ?? '', wanted[0] ?? '', at) && follow(words.slice(at + 1), wanted, isWord);
  if (starts.slice(0, MAX_STARTS).some(runs)) return 'yes';
  if (starts.length > MAX_STARTS) return 'maybe';
  const mayRun = (at: number): boolean => {
    const following = words.slice(at + 1);
    const subcommand = ownName(words[at] ?? '').slice(name.length + 1);
    return (
      follow(following, wanted, mayBeWord) ||
      (subcommand !== '' && follow([subcommand, ...following], wanted, mayBeWord))
    );
  };
  return starts.some(mayRun) ? 'maybe' : 'no';
}

function isProgram(word: string, name: string, at: number): boolean {
  const own = ownName(word);
  return word === name || own === name.replace(PROGRAM_ENDING, '') || (at === 0 && GLOB.test(own));
}

/**
 * Returns true for another program whose name begins with the name of this one: `git-push`, `pip3`, `docker-compose`.
 */
function isVariant(own: string, name: string): boolean {
  return own.startsWith(name) && /^[-\d]/u.test(own.slice(name.length));
}

type IsWord = (word: string, wanted: string) => boolean;

/**
 * Returns true if the rule's other words follow in order. Only options and their values may be between them. From the
 * first option of the rule on, any words may be between them: `git push origin --force`.
 */
function follow(words: readonly string[], [, ...rest]: readonly string[], matches: IsWord): boolean {
  const firstOption = rest.findIndex((wanted) => wanted.startsWith('-'));
  let at = 0;
  for (const [index, wanted] of rest.entries()) {
    const isBehindOption = firstOption !== -1 && index >= firstOption;
    while (at < words.length && !matches(words[at] ?? '', wanted)) {
      if (isBehindOption) {
        at += 1;
        continue;
      }
      if (!(words[at] ?? '').startsWith('-')) return false;
      // The next word is the option's value, unless it is the wanted word.
      const value = words[at + 1];
      at += value !== undefined && !value.startsWith('-') && !matches(value, wanted) ? 2 : 1;
    }
    if (at >= words.length) return false;
    at += 1;
  }
  return true;
}

function isWord(word: string, wanted: string): boolean {
  return word === wanted || GLOB.test(word) || (wanted.startsWith('-') && word.startsWith(`${wanted}=`));
}

/**
 * True if the word may mean the wanted word. Programs complete the beginning of a subcommand, and an option has
 * several forms: `--force`, `--forc`, `-f`, `-xf`.
 */
function mayBeWord(word: string, wanted: string): boolean {
  return (wanted.startsWith('-') ? word.startsWith('-') : wanted.startsWith(word)) || isWord(word, wanted);
}
