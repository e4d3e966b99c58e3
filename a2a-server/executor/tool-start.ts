/**
 * The start of one tool execution, in the journal before the tool touches the world (E2).
 *
 * A tool that changes files only through its workspace is started by its first change: what it saves is then part of the
 * same append, and so is the decision that let it run, where that waits. Until then it only looks.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { FileBytes } from '../journal/journal.ts';
import type { SavedFile, TaskEvent } from '../task/events.ts';
import { besideQuestions } from '../task/pending.ts';
import { isTerminal, type Snapshot } from '../task/snapshot.ts';
import type { PendingCommand } from './pending-command.ts';
import type { TaskLog } from './task-log.ts';

export interface ToolReference {
  callId: string;
  tool: string;
  title: string;
  toolId: string;
}

export class ToolStart {
  readonly #log: TaskLog;
  readonly #taskId: string;
  readonly #reference: ToolReference;
  readonly #command: PendingCommand | undefined;
  #recorded = false;

  constructor(log: TaskLog, taskId: string, reference: ToolReference, command?: PendingCommand) {
    this.#log = log;
    this.#taskId = taskId;
    this.#reference = reference;
    this.#command = command;
  }

  /** Whether the start is durable. */
  get recorded(): boolean {
    return this.#recorded;
  }

  /** Records the start, if it is not, and what is about to be changed. @returns false when the task went on without it. */
  async record(files: readonly SavedFile[] = [], contents: readonly FileBytes[] = []): Promise<boolean> {
    if (this.#recorded && files.length === 0) return true;
    const { callId, toolId } = this.#reference;
    const saved: TaskEvent[] = files.length === 0 ? [] : [{ type: 'files.saved', callId, toolId, files }];
    return this.append((s) => [...this.opening(s), ...saved], contents);
  }

  /** As `record`, for a tool: @throws ProductError TASK_ENDED when the task went on without it. */
  async require(files: readonly SavedFile[], contents: readonly FileBytes[]): Promise<void> {
    if (await this.record(files, contents)) return;
    throw new ProductError('TASK_ENDED', 'The task went on without this; nothing more was changed.');
  }

  /** Appends events of this tool execution, after its start. @returns false when the task went on without it. */
  async append(
    events: (snapshot: Snapshot) => readonly TaskEvent[],
    contents: readonly FileBytes[] = [],
  ): Promise<boolean> {
    const following = (s: Snapshot): readonly TaskEvent[] => (this.#isDue(s) ? events(s) : []);
    if (this.#command !== undefined && !this.#command.settled) {
      if (await this.#command.settle({ events: following, contents })) return this.#check();
    }
    const changed = await this.#log.change(this.#taskId, (s) => {
      const due = following(s);
      return due.length === 0 ? { type: 'keep' } : { type: 'append', events: due, contents };
    });
    if (changed?.type !== 'appended') return false;
    this.#recorded = true;
    return true;
  }

  async #check(): Promise<boolean> {
    const { changed } = (await this.#command?.result) ?? {};
    const begun = (event: TaskEvent): boolean =>
      event.type === 'tool.started' && event.toolId === this.#reference.toolId;
    this.#recorded = changed?.type === 'appended' && changed.entries.some(({ event }) => begun(event));
    return this.#recorded;
  }

  /** The event of the start; none once it is recorded. */
  opening(snapshot: Snapshot): TaskEvent[] {
    return this.#recorded ? [] : besideQuestions(snapshot, { type: 'tool.started', ...this.#reference });
  }

  /** Whether the call waits for this start or, once started, runs under this tool execution. */
  #isDue(snapshot: Snapshot): boolean {
    const { callId, toolId } = this.#reference;
    const state = snapshot.calls[callId]?.state;
    if (isTerminal(snapshot) || state === undefined) return false;
    return this.#recorded ? state.type === 'running' && state.toolId === toolId : state.type === 'ready';
  }
}
