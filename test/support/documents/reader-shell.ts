/**
 * A shell in which a test types the commands of a document, as a reader does. Each command sees the variables of the
 * commands before it.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';

/** The limit of one wait on a busy machine. */
const LIMIT_MS = 60_000;

/** Runs the commands that come on descriptor 3, each before a NUL. After each it prints a mark and the exit code. */
const LOOP = `exec 2>&1
set -uo pipefail
ended=0
while IFS= read -r -d '' -u 3 command; do
  eval "(exit $ended)
$command" 3<&-
  ended=$?
  printf '\\n%s %s\\n' "$MARK" "$ended"
done`;

export interface Answered {
  printed: string;
  code: number;
}

interface ShellOptions {
  /** The home directory. It has a directory `work`, in which the shell starts. */
  home: string;
  env: Readonly<Record<string, string>>;
}

export class ReaderShell {
  readonly #child: ChildProcess;
  readonly #commands: Writable;
  readonly #keyboard: FileHandle;
  readonly #mark: string;
  readonly #waiting = new Set<() => void>();
  #output = '';
  #sent = 0;
  #ended = false;

  private constructor(child: ChildProcess, mark: string, keyboard: FileHandle) {
    this.#child = child;
    this.#mark = mark;
    this.#keyboard = keyboard;
    const commands = child.stdio[3];
    if (!(commands instanceof Writable)) throw new Error('the shell takes no commands');
    this.#commands = commands;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text.replaceAll('\r', '');
      this.#look();
    });
    child.stdout?.once('close', () => {
      this.#ended = true;
      this.#look();
    });
  }

  static async open({ home, env }: ShellOptions): Promise<ReaderShell> {
    const keyboard = join(home, 'keyboard');
    await promisify(execFile)('mkfifo', [keyboard]);
    const mark = randomUUID();
    const child = spawn('bash', ['--norc', '-c', LOOP], {
      cwd: join(home, 'work'),
      env: { ...env, MARK: mark, KEYBOARD: keyboard },
      // The background programs of the shell are in one process group, which `close` ends.
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    return new ReaderShell(child, mark, await open(keyboard, constants.O_RDWR));
  }

  /** Everything that the commands have printed. */
  get printed(): string {
    return plain(this.#output.replaceAll(this.#end(), ''));
  }

  /** @param keys what the reader types, by the text that asks for it. With keys, the command runs at a terminal. */
  async run(command: string, keys?: Readonly<Record<string, string>>): Promise<Answered> {
    const before = this.#output.length;
    const line = keys === undefined ? command : `script -qefc ${quoted(command)} /dev/null < "$KEYBOARD"`;
    this.#commands.write(`${line}\0`);
    this.#sent += 1;
    const number = this.#sent;
    const left = new Map(Object.entries(keys ?? {}));
    return this.#until(`the end of: ${command}`, () => {
      const output = this.#output.slice(before);
      for (const [question, typed] of left)
        if (output.includes(question)) {
          left.delete(question);
          void this.#keyboard.write(`${typed}\r`);
        }
      const end = [...this.#output.matchAll(this.#end())][number - 1];
      return end && { printed: plain(output.slice(0, end.index - before)), code: Number(end[1]) };
    });
  }

  /** Waits until the output matches. @returns the last match */
  async match(pattern: RegExp): Promise<RegExpMatchArray> {
    const all = new RegExp(pattern, `${pattern.flags.replace('g', '')}g`);
    return this.#until(`output like ${String(pattern)}`, () => [...this.printed.matchAll(all)].at(-1));
  }

  /** Ends the shell and its background programs. */
  async close(): Promise<void> {
    if (!this.#ended && this.#child.pid !== undefined) {
      process.kill(-this.#child.pid, 'SIGTERM');
      if (this.#child.stdout) await once(this.#child.stdout, 'close');
    }
    await this.#keyboard.close();
  }

  #end(): RegExp {
    return new RegExp(`\\n${this.#mark} (\\d+)\\n`, 'g');
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }

  #until<Found>(what: string, find: () => Found | undefined): Promise<Found> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const fail = (): void => {
        stop();
        reject(new Error(`there is not ${what}\n${this.printed}`));
      };
      const timer = setTimeout(fail, LIMIT_MS);
      const look = (): void => {
        const found = find();
        if (found !== undefined) {
          stop();
          resolve(found);
        } else if (this.#ended) fail();
      };
      this.#waiting.add(look);
      look();
    });
  }
}

/** Returns the text without the escapes that move the cursor of a terminal. */
function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\u{1b}\[[\d;?]*[A-Za-z]/gu, '');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
