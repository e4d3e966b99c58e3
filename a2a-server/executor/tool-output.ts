/** The live output of one tool execution, journalled in order while it runs, up to a limit. */
import type { TaskEvent } from '../task/events.ts';
import { besideQuestions } from '../task/pending.ts';
import { isTerminal } from '../task/snapshot.ts';
import type { TaskLog } from './task-log.ts';

/** Characters of output that are journalled; a tool's result has its own cap. */
const MAX_CHARACTERS = 1_010_000;
/** Characters of one event: a reader with little room still gets on. */
const MAX_PIECE = 64 * 1024;
/** Characters of output that a stopped execution reports. */
const MAX_TAIL = 8 * 1024;
/** Characters of a line that is shown as progress. */
const MAX_LINE = 300;

export class ToolOutput {
  readonly #log: TaskLog;
  readonly #taskId: string;
  readonly #reference: { callId: string; tool: string; title: string; toolId: string };
  #unwritten = '';
  #written = 0;
  /** Characters that are in the journal, or on their way to it. */
  #journalled = 0;
  #kept = false;
  #tail = '';
  #closed = false;
  #writing: Promise<void> | undefined;

  constructor(
    log: TaskLog,
    taskId: string,
    reference: { callId: string; tool: string; title: string; toolId: string },
  ) {
    this.#log = log;
    this.#taskId = taskId;
    this.#reference = reference;
  }

  /** The end of what was put out. */
  get soFar(): string {
    return this.#tail;
  }

  /** The last line of what was put out that says something. */
  get lastLine(): string | null {
    const lines = this.#tail.split('\n').map((line) => line.trim());
    return lines.findLast((line) => line !== '')?.slice(-MAX_LINE) ?? null;
  }

  /** Never blocks the tool, never fails it. Late output is dropped (A2). */
  write(text: string): void {
    if (this.#closed || text === '') return;
    this.#tail = (this.#tail + text).slice(-MAX_TAIL);
    const room = MAX_CHARACTERS - this.#written;
    if (room <= 0) return;
    this.#written += text.length;
    this.#unwritten += text.length <= room ? text : `${text.slice(0, room)}\n[output cut here]\n`;
    this.#writing ??= this.#drain();
  }

  /** Journals a text for whoever asks for it later, after what was put out live. Shown to nobody else. */
  async keep(text: string): Promise<void> {
    await this.#writing;
    this.#kept = true;
    this.#closed = false;
    this.write(text);
    await this.close();
  }

  /** Resolves when all that was put out is journalled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writing;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#unwritten !== '') {
        const text = this.#unwritten.slice(0, MAX_PIECE);
        this.#unwritten = this.#unwritten.slice(text.length);
        const event: TaskEvent = {
          type: 'tool.output',
          ...this.#reference,
          text,
          offset: this.#journalled,
          ...(this.#kept && { kept: true }),
        };
        this.#journalled += text.length;
        await this.#log.change(this.#taskId, (s) =>
          isTerminal(s) ? { type: 'keep' } : { type: 'append', events: besideQuestions(s, event) },
        );
      }
    } catch {
      // Output is a courtesy: when the journal cannot be written, the outcome's append says so.
      this.#closed = true;
    } finally {
      this.#writing = undefined;
    }
  }
}
