/**
 * Delays the append of a valid command. One append can then contain a decision and the start of the approved tool call.
 * If that call does not start soon, the command is appended alone.
 *
 * E3: the sender gets an answer only after the command is durable. The journal contains the command once.
 */
import { Deferred } from '../../../shared/runtime/deferred.ts';
import type { CommandKey, FileBytes } from '../../journal/journal.ts';
import { OwnershipLostError } from '../../journal/ownership.ts';
import { isRefusal, type TaskRule } from '../../task/command-outcome.ts';
import type { TaskEvent } from '../../task/events.ts';
import { foldEntries, foldNextEvents } from '../../task/fold.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import type { TaskAppendResult, TaskJournal } from './task-journal.ts';

/** A command to a task. */
export interface TaskCommand {
  rule: TaskRule;
  key: CommandKey;
  /** The bytes of the files that the command's events name. */
  contents?: readonly FileBytes[];
}

/** `snapshot` is the task after the command's last event. Absent if this process did not append the command. */
export interface AppendedCommand {
  changed: TaskAppendResult | undefined;
  snapshot?: Snapshot;
}

/** Further events for the append of the command. `events` computes them from the task as it is after the command. */
interface FollowingEvents {
  events: (after: Snapshot) => readonly TaskEvent[];
  contents: readonly FileBytes[];
  /** The `TaskJournal` of the execution that these events belong to. */
  taskJournal: TaskJournal;
}

export class DeferredCommandAppend {
  readonly #taskJournal: TaskJournal;
  readonly #taskId: string;
  readonly #command: TaskCommand;
  readonly #result = new Deferred<AppendedCommand>();
  #settling: Promise<AppendedCommand> | undefined;

  constructor(taskJournal: TaskJournal, taskId: string, command: TaskCommand) {
    this.#taskJournal = taskJournal;
    this.#taskId = taskId;
    this.#command = command;
  }

  /** Resolves when the command is durable. Rejects if the journal cannot be written. */
  get result(): Promise<AppendedCommand> {
    return this.#result.promise;
  }

  get settled(): boolean {
    return this.#settling !== undefined;
  }

  /**
   * Returns the task as it would be if this command were appended now. If the task refuses the command, returns the
   * task unchanged.
   */
  foresee(snapshot: Snapshot, at: number): Snapshot {
    const outcome = this.#command.rule(snapshot);
    return isRefusal(outcome) ? snapshot : foldNextEvents(snapshot, outcome, at);
  }

  /** Appends the command and the following events. Only the first call appends, and only that call returns true. */
  async settle(following?: FollowingEvents): Promise<boolean> {
    if (this.#settling !== undefined) {
      await this.#settling;
      return false;
    }
    this.#settling = this.#append(following);
    this.#settling.then(
      (result) => this.#result.resolve(result),
      (error: unknown) => this.#result.reject(error),
    );
    await this.#settling;
    return true;
  }

  async #append(following: FollowingEvents | undefined): Promise<AppendedCommand> {
    const alone = { events: () => [], contents: [], taskJournal: this.#taskJournal };
    try {
      return await this.#appendWith(following ?? alone);
    } catch (error) {
      // E3: another server owns the task now. The command does not need this execution, so it is appended alone.
      if (!(error instanceof OwnershipLostError)) throw error;
      return this.#appendWith(alone);
    }
  }

  async #appendWith({ events, contents, taskJournal }: FollowingEvents): Promise<AppendedCommand> {
    const { rule, key, contents: ownContents = [] } = this.#command;
    let own: { before: Snapshot; count: number } | undefined;
    const changed = await taskJournal.change(
      this.#taskId,
      (before) => {
        const outcome = rule(before);
        if (isRefusal(outcome) || outcome.length === 0) return outcome;
        own = { before, count: outcome.length };
        return [...outcome, ...events(foldNextEvents(before, outcome))];
      },
      { command: key, contents: [...ownContents, ...contents] },
    );
    if (changed?.type !== 'appended' || own === undefined) return { changed };
    return { changed, snapshot: foldEntries(own.before, changed.entries.slice(0, own.count)) };
  }
}
