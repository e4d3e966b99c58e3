/**
 * The terminal of a command. Results go to stdout, errors to stderr. A command passes its result to `json` for
 * programs, and to `say`, `explain`, `write` and `complain` for people. The option --json decides which is printed.
 */
import { fstatSync } from 'node:fs';
import { escapeHiddenCharacters, visibleJson } from '../../../shared/text/visible-text.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { discardTypedAhead, readLine, type PromptWithdrawal } from './read-line.ts';
import { wrapSentences } from './rows.ts';
import { paintWithColour, type Paint, paintNothing, wantsColour } from './paint.ts';

export interface Terminal {
  paint: Paint;
  /** The width in columns. Undefined if stdout is a pipe or a file. */
  width: number | undefined;
  /** Like `width`, but also set if stdout is a pipe and stderr a terminal: a pager such as `less` may read the pipe. */
  pagerWidth: number | undefined;
  interactive: boolean;
  /** True with --json. Then `say`, `explain`, `write` and `complain` print nothing. */
  printsJson: boolean;
  /** True if the command can ask a person: at a terminal, and without --json. */
  canAsk: boolean;
  /** Prints a value, or a text that is JSON already. Prints nothing without --json. */
  json: (value: object | string) => void;
  say: (text: string) => void;
  /** Prints sentences of the program. At a terminal, a line that does not fit is split between two words. */
  explain: (text: string) => void;
  write: (text: string) => void;
  /** Prints to stderr. Prints nothing with --json. */
  complain: (text: string) => void;
  /** Prints to stderr, also with --json. */
  warn: (text: string) => void;
  /**
   * Asks a yes-or-no question.
   * @returns true for `y` or `yes`; false for any other answer, and at the end of the input
   */
  confirm(question: string): Promise<boolean>;
  /**
   * Asks a question, and reads one line. What the person has typed before the question is discarded.
   * @returns the typed line; `''` at the end of the input, or after a withdrawal
   */
  ask(question: string, withdrawal?: PromptWithdrawal): Promise<string>;
}

const nothing = (): void => undefined;

export function createTerminal(env: Environment, printsJson: boolean): Terminal {
  const { stdout, stderr, stdin } = process;
  const width = columnsOf(stdout);
  const interactive = stdin.isTTY && stdout.isTTY;
  // The text is escaped, because it may quote an agent, for example an error of the agent.
  const warn = (text: string): void =>
    void stderr.write(`${wrapSentences(escapeHiddenInLines(text), columnsOf(stderr))}\n`);
  const json = (value: object | string): void => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    // The JSON may quote an agent. At a terminal, its hidden characters are escaped. A pipe gets the JSON unchanged.
    stdout.write(`${width === undefined ? text : visibleJson(text)}\n`);
  };
  return {
    paint: wantsColour(env, stdout.isTTY) ? paintWithColour : paintNothing,
    width,
    pagerWidth: width ?? (isPipe(stdout.fd) ? columnsOf(stderr) : undefined),
    interactive,
    printsJson,
    canAsk: interactive && !printsJson,
    json: printsJson ? json : nothing,
    say: printsJson ? nothing : (text) => void stdout.write(`${text}\n`),
    explain: printsJson ? nothing : (text) => void stdout.write(`${wrapSentences(text, width)}\n`),
    write: printsJson ? nothing : (text) => void stdout.write(text),
    complain: printsJson ? nothing : warn,
    warn,
    confirm: async (question) => /^y(es)?$/i.test((await readTypedLine(`${question} [y/N]`)).trim()),
    ask: readTypedLine,
  };
}

function columnsOf({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  // A pseudo-terminal without a size has 0 columns.
  return isTTY && columns > 0 ? columns : undefined;
}

function isPipe(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFIFO();
  } catch {
    return false;
  }
}

/** Escapes the hidden characters of a text, but no line feed. For a text of the program that may quote an agent. */
export function escapeHiddenInLines(text: string): string {
  return text.split('\n').map(escapeHiddenCharacters).join('\n');
}

async function readTypedLine(question: string, withdrawal?: PromptWithdrawal): Promise<string> {
  const { stdin: input, stdout: output } = process;
  if (input.isTTY) await discardTypedAhead(input);
  return readLine({ input, output, question: wrapSentences(question, columnsOf(output)), withdrawal });
}
