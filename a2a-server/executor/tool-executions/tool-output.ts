/** Journals the live output of one tool execution, in order and up to a limit. */
import type { ToolProgress } from '../../../shared/protocol/tool-approval.ts';
import type { TaskEvent, ToolExecutionReference, ToolOutcome } from '../../task/events.ts';
import { withTaskState } from '../../task/pending.ts';
import { lastLineOf } from '../../task/tool-outputs.ts';
import { isTerminal } from '../../task/snapshot.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';
import { cutMiddle } from '../../../shared/text/shortened-text.ts';
import { readOutputHint } from '../../tools/builtin/read-output.ts';

/** The limit of a tool execution's output in the journal, in characters. `MAX_RESULT_CHARS` limits a result. */
const MAX_JOURNALLED_CHARS = 1_010_000;
/** The limit of one event, in characters. Slow readers then get small pieces. */
const MAX_PIECE_CHARS = 64 * 1024;
/** The limit of the output in a stopped execution's outcome, in characters. */
const MAX_TAIL_CHARS = 8 * 1024;
/**
 * The limit of a result for the model, in characters. The built-in tools have lower limits, so their pages stay
 * complete.
 */
const MAX_RESULT_CHARS = 105_000;
/** The model sees this many characters of a longer result: half from the start, half from the end. */
const SHOWN_CHARS = 30_000;

export class ToolOutput {
  readonly #taskJournal: TaskJournal;
  readonly #taskId: string;
  readonly #reference: ToolExecutionReference;
  #unwritten = '';
  #written = 0;
  /** The number of output characters that are in the journal or in the current append. */
  #journalled = 0;
  #kept = false;
  #progress: ToolProgress | undefined;
  #tail = '';
  #closed = false;
  #writing: Promise<void> | undefined;

  constructor(taskJournal: TaskJournal, taskId: string, reference: ToolExecutionReference) {
    this.#taskJournal = taskJournal;
    this.#taskId = taskId;
    this.#reference = reference;
  }

  get soFar(): string {
    return this.#tail;
  }

  get lastLine(): string | null {
    return lastLineOf(this.#tail);
  }

  /** Adds output. Never blocks the tool and never throws. A2: output after `close` is dropped. */
  write(text: string, progress?: ToolProgress): void {
    if (this.#closed || text === '') return;
    this.#progress = progress ?? this.#progress;
    this.#tail = (this.#tail + text).slice(-MAX_TAIL_CHARS);
    const room = MAX_JOURNALLED_CHARS - this.#written;
    if (room <= 0) return;
    this.#written += text.length;
    this.#unwritten += text.length <= room ? text : `${text.slice(0, room)}\n[output cut here]\n`;
    this.#writing ??= this.#drain();
  }

  /**
   * If a result is too long for the model, appends it to the journal after the live output. The model gets the start,
   * the end, and an instruction to read the rest. The events of the result are marked `kept`, so that clients get it as
   * an artifact and not as live output.
   */
  async shortened(outcome: ToolOutcome, maxChars = MAX_RESULT_CHARS): Promise<ToolOutcome> {
    if (outcome.type !== 'ok' || outcome.text.length <= maxChars) return outcome;
    const { text } = outcome;
    await this.#writing;
    this.#kept = true;
    this.#closed = false;
    this.write(text);
    await this.close();
    return { ...outcome, text: `${cutMiddle(text, SHOWN_CHARS)}\n${readOutputHint(this.#reference.toolId)}` };
  }

  /** Appends an answer that arrived after the execution was stopped. J3: appends nothing if the task has ended. */
  async addLate(text: string): Promise<void> {
    await this.close();
    this.#closed = false;
    this.write(`\n[answered after it was stopped]\n${text}\n`);
    await this.close();
  }

  /** Stops accepting output. Resolves when the journal has all output. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writing;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#unwritten !== '') {
        const text = this.#unwritten.slice(0, MAX_PIECE_CHARS);
        this.#unwritten = this.#unwritten.slice(text.length);
        const event: TaskEvent = {
          type: 'tool.output',
          ...this.#reference,
          text,
          offset: this.#journalled,
          ...(this.#kept && { kept: true }),
          ...(this.#progress && { progress: this.#progress }),
        };
        this.#progress = undefined;
        this.#journalled += text.length;
        await this.#taskJournal.change(this.#taskId, (s) => (isTerminal(s) ? [] : withTaskState(s, event)));
      }
    } catch {
      // Lost output must not fail the tool. If the journal fails, the append of the outcome reports the error.
      this.#closed = true;
    } finally {
      this.#writing = undefined;
    }
  }
}
