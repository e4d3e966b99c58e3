/** A program in a terminal of tmux, with a server of tmux of its own. */
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorCode } from '../../shared/runtime/errors.ts';

export interface TerminalProgram {
  command: readonly string[];
  directory: string;
  env: Readonly<Record<string, string>>;
  columns: number;
  rows: number;
}

/** A screen is drawn in steps, and tmux has no event for the last one. */
const LOOK_MS = 250;
const PATIENCE_MS = 60_000;

export class TmuxScreen {
  readonly #socket = `pictures-${process.pid}`;
  readonly #program: TerminalProgram;

  constructor(program: TerminalProgram) {
    this.#program = program;
  }

  async #tmux(...args: readonly string[]): Promise<string> {
    const { PATH = '' } = process.env;
    const { stdout } = await promisify(execFile)('tmux', ['-L', this.#socket, '-f', '/dev/null', ...args], {
      cwd: this.#program.directory,
      env: { PATH, TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8', ...this.#program.env },
    });
    return stdout;
  }

  async start(): Promise<void> {
    const { columns, rows, command } = this.#program;
    // The screen of a program that has ended says why.
    const keep = ['start-server', ';', 'set-option', '-g', 'remain-on-exit', 'on', ';'];
    await this.#tmux(...keep, 'new-session', '-d', '-x', String(columns), '-y', String(rows), ...command);
  }

  async type(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', '--', text);
    // A client takes text and Enter in one piece for pasted lines.
    await this.shows(text.slice(0, 20));
    await this.press('Enter');
  }

  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux('send-keys', ...keys);
  }

  /**
   * Resolves when the screen shows the text and no longer changes.
   * @returns the screen with its colours
   * @throws Error with the screen, if it does not show the text
   */
  async shows(wanted: string | RegExp): Promise<string> {
    let before = '';
    for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
      const plain = await this.#tmux('capture-pane', '-p');
      const found = typeof wanted === 'string' ? plain.includes(wanted) : wanted.test(plain);
      if (found && plain === before) return this.#tmux('capture-pane', '-p', '-e');
      before = plain;
      await pause(LOOK_MS);
    }
    throw new Error(`The screen does not show ${String(wanted)}:\n${before}`);
  }

  /** Ends the program too. A client may ignore that its terminal closes. */
  async close(): Promise<void> {
    const pid = Number(await this.#tmux('display-message', '-p', '#{pane_pid}').catch(() => '0'));
    await this.#tmux('kill-server').catch(() => undefined);
    try {
      // The program leads a process group of its own.
      if (pid > 0) process.kill(-pid, 'SIGKILL');
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw error;
    }
  }
}
