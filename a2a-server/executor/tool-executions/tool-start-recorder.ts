/**
 * Records the start of one tool execution. E2: the start is durable before the tool has side effects.
 *
 * Some tools change files only through their workspace. The first change of such a tool is its start. Before its start,
 * the tool only reads. One append contains the start, the saved files, and the decision if it is not durable yet.
 */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { FileBytes } from '../../journal/journal.ts';
import type { RecordedFileChange, TaskEvent, ToolExecutionReference } from '../../task/events.ts';
import { withTaskState } from '../../task/pending.ts';
import { isTerminal, type Snapshot } from '../../task/snapshot.ts';
import type { DeferredCommandAppend } from '../task-journal/deferred-command-append.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';

export class ToolStartRecorder {
  readonly #taskJournal: TaskJournal;
  readonly #taskId: string;
  readonly #reference: ToolExecutionReference;
  readonly #inputHash: string;
  readonly #command: DeferredCommandAppend | undefined;
  #recorded = false;

  constructor(
    taskJournal: TaskJournal,
    taskId: string,
    execution: {
      reference: ToolExecutionReference;
      inputHash: string;
      command?: DeferredCommandAppend | undefined;
    },
  ) {
    this.#taskJournal = taskJournal;
    this.#taskId = taskId;
    this.#reference = execution.reference;
    this.#inputHash = execution.inputHash;
    this.#command = execution.command;
  }

  get recorded(): boolean {
    return this.#recorded;
  }

  /**
   * Records the saved files, and the start if it is not recorded yet. Returns false if this execution must no longer
   * run the tool call.
   * @throws OwnershipLostError if the claim was lost, even if this append is durable
   */
  async record(
    files: readonly RecordedFileChange[] = [],
    contents: readonly FileBytes[] = [],
  ): Promise<boolean> {
    if (this.#recorded && files.length === 0) return true;
    const { callId, toolId } = this.#reference;
    const saved: TaskEvent[] = files.length === 0 ? [] : [{ type: 'files.saved', callId, toolId, files }];
    const recorded = await this.append((s) => [...this.opening(s), ...saved], contents);
    // E1: the machine may have paused this process during the append, for longer than its lease. Another server may own
    // the task now. The timer that reports the end of the lease may not have run yet.
    this.#taskJournal.requireClaim(this.#taskId);
    return recorded;
  }

  /**
   * Records the start and the saved files, like `record`.
   * @throws ProductError TASK_ENDED if this execution must no longer run the tool call
   */
  async require(files: readonly RecordedFileChange[], contents: readonly FileBytes[]): Promise<void> {
    if (await this.record(files, contents)) return;
    throw new ProductError(
      'TASK_ENDED',
      'The task has continued without this call. The call changed nothing more.',
    );
  }

  /** Appends events of this tool execution. Returns false if this execution must no longer run the tool call. */
  async append(
    events: (snapshot: Snapshot) => readonly TaskEvent[],
    contents: readonly FileBytes[] = [],
  ): Promise<boolean> {
    const following = (s: Snapshot): readonly TaskEvent[] => (this.#isDue(s) ? events(s) : []);
    if (this.#command !== undefined && !this.#command.settled) {
      const settled = await this.#command.settle({
        events: following,
        contents,
        taskJournal: this.#taskJournal,
      });
      // Another request may have decided the tool call first. If that decision approves the same input, the call still
      // starts.
      if (settled && (await this.#checkCommandOutcome())) return true;
    }
    const changed = await this.#taskJournal.change(this.#taskId, following, { contents });
    if (changed?.type !== 'appended') return false;
    this.#recorded = true;
    return true;
  }

  async #checkCommandOutcome(): Promise<boolean> {
    const { changed } = (await this.#command?.result) ?? {};
    const begun = (event: TaskEvent): boolean =>
      event.type === 'tool.started' && event.toolId === this.#reference.toolId;
    this.#recorded = changed?.type === 'appended' && changed.entries.some(({ event }) => begun(event));
    return this.#recorded;
  }

  /** Returns the start event, or nothing if the start is already durable. */
  opening(snapshot: Snapshot): TaskEvent[] {
    return this.#recorded ? [] : withTaskState(snapshot, { type: 'tool.started', ...this.#reference });
  }

  /**
   * True if the tool call can start with this input. Also true if it has started and still runs in this tool execution.
   */
  #isDue(snapshot: Snapshot): boolean {
    const { callId, toolId } = this.#reference;
    const call = snapshot.calls[callId];
    if (isTerminal(snapshot) || call?.inputHash !== this.#inputHash) return false;
    const { state } = call;
    return this.#recorded ? state.type === 'running' && state.toolId === toolId : state.type === 'ready';
  }
}
