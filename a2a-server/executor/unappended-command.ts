/**
 * A valid command before its append. So one append can contain a decision and the start of the approved call.
 *
 * E3: the sender gets an answer only when the command is durable. The journal gets the command once. If the approved
 * call starts soon, the same append contains the start.
 */
import { Deferred } from '../../shared/client/core/deferred.ts';
import type { CommandKey, FileBytes } from '../journal/journal.ts';
import type { TaskEvent } from '../task/events.ts';
import { foldEntries, foldNext } from '../task/fold.ts';
import type { Snapshot } from '../task/snapshot.ts';
import type { LogChange, ChangeResult, TaskLog } from './task-log.ts';

/** The result of a command. `snapshot` is the task after the command's last event, if this process appended it. */
export interface CommandResult {
  changed: ChangeResult | undefined;
  snapshot?: Snapshot;
}

/** Events to append after the command. The function `events` gets the task after the command. */
interface FollowingEvents {
  events: (after: Snapshot) => readonly TaskEvent[];
  contents: readonly FileBytes[];
}

const NOTHING: FollowingEvents = { events: () => [], contents: [] };

export class UnappendedCommand {
  readonly #log: TaskLog;
  readonly #taskId: string;
  readonly #rule: (snapshot: Snapshot) => LogChange;
  readonly #key: CommandKey;
  readonly #result = new Deferred<CommandResult>();
  #settling: Promise<CommandResult> | undefined;

  constructor(log: TaskLog, taskId: string, rule: (snapshot: Snapshot) => LogChange, key: CommandKey) {
    this.#log = log;
    this.#taskId = taskId;
    this.#rule = rule;
    this.#key = key;
    // The sender may await the result later. This handler prevents an unhandled rejection until then.
    this.#result.promise.catch(() => undefined);
  }

  /** The result of the append. Rejects when the journal cannot be written. */
  get result(): Promise<CommandResult> {
    return this.#result.promise;
  }

  get settled(): boolean {
    return this.#settling !== undefined;
  }

  /** Returns the task as if the command were appended now. If the rule refuses the command, the task is unchanged. */
  foresee(snapshot: Snapshot, at: number): Snapshot {
    const change = this.#rule(snapshot);
    return change.type === 'append' ? foldNext(snapshot, change.events, at) : snapshot;
  }

  /** Appends the command and the following events. Only the first call appends. @returns true for that call. */
  async settle(following: FollowingEvents = NOTHING): Promise<boolean> {
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

  async #append({ events, contents }: FollowingEvents): Promise<CommandResult> {
    let own: { before: Snapshot; count: number } | undefined;
    const changed = await this.#log.change(
      this.#taskId,
      (before) => {
        const change = this.#rule(before);
        if (change.type !== 'append') return change;
        own = { before, count: change.events.length };
        const more = events(foldNext(before, change.events));
        return {
          type: 'append',
          events: [...change.events, ...more],
          contents: [...(change.contents ?? []), ...contents],
        };
      },
      this.#key,
    );
    if (changed?.type !== 'appended' || own === undefined) return { changed };
    return { changed, snapshot: foldEntries(own.before, changed.entries.slice(0, own.count)) };
  }
}
