/**
 * `--on-disconnect cancel`: after the last reader of a running task leaves, the server waits `RECONNECT_GRACE_MS`. If
 * no client reads the task in this time, the server cancels it.
 *
 * - A reader is a stream or a blocking request of the task. Behind a load balancer, a client may come back at another
 *   server. While a client reads the task there, this server does not cancel it. When no client reads it there any
 *   more, this server waits again.
 * - The rule starts to apply to a task when a client sends a message and follows it, over a stream or in a blocking
 *   request. The rule ends when the task waits or ends.
 * - A reader leaves if its connection breaks, or if its stream reaches its maximum lifetime. If the last reader ends
 *   for another reason, the task continues without readers.
 * - If a later message is sent without waiting for events, the rule no longer applies to the task. After a restart of
 *   the server, the rule applies to no task.
 */
import type { Clock } from '../../../shared/runtime/clock.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { TaskService } from '../../executor/task-service.ts';
import type { ReadEndReason } from '../auth/caller.ts';
import type { ReadersAtOtherServers } from './readers-at-other-servers.ts';

export const ON_DISCONNECT_VALUES = ['detach', 'cancel'] as const;

export const RECONNECT_GRACE_MS = 10_000;

const REASON = 'its client disconnected and did not come back';

/** A message whose sender reads the task's events. */
export interface FollowedMessage {
  principal: string;
  /** The task's `seq` when the server accepted the message. */
  seq: number;
}

export interface DisconnectHandler {
  /**
   * Registers a reader of the task.
   * @param message the message that this reader sent, if any
   * @returns a function that the caller calls when the reader ends
   */
  reads(taskId: string, message?: FollowedMessage): (end: ReadEndReason) => void;
  /** Called for a message whose sender does not read the task. A later disconnect then does not cancel the task. */
  detach(taskId: string): void;
  /** Permanently stops the rule for all tasks. */
  stop(): void;
}

export const IGNORE_DISCONNECTS: DisconnectHandler = {
  reads: () => () => undefined,
  detach: () => undefined,
  stop: () => undefined,
};

interface CancellingParts {
  tasks: Pick<TaskService, 'cancelWork' | 'follow'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** Absent if no other server uses the journal. */
  others?: Pick<ReadersAtOtherServers, 'begin' | 'end' | 'untilNone'> | undefined;
}

interface CancelRule {
  message: FollowedMessage;
  end: AbortController;
}

interface ReadTask {
  readers: number;
  /** Absent while the rule does not apply to the task. */
  rule?: CancelRule | undefined;
  stopGraceTimer?: () => void;
}

export class CancellingDisconnectHandler implements DisconnectHandler {
  readonly #parts: CancellingParts;
  readonly #tasks = new Map<string, ReadTask>();
  #stopped = false;

  constructor(parts: CancellingParts) {
    this.#parts = parts;
  }

  reads(taskId: string, message?: FollowedMessage): (end: ReadEndReason) => void {
    const task = this.#tasks.get(taskId) ?? { readers: 0 };
    this.#tasks.set(taskId, task);
    if (task.readers === 0) this.#parts.others?.begin(taskId);
    task.readers += 1;
    task.stopGraceTimer?.();
    if (message !== undefined) this.#applyRuleUntilSettled(taskId, task, message);
    return (end) => {
      task.readers -= 1;
      if (task.readers > 0) return;
      this.#parts.others?.end(taskId);
      if (end === 'over') this.detach(taskId);
      else if (task.rule !== undefined) this.#startGraceTimer(taskId, task, task.rule);
      else this.#tasks.delete(taskId);
    };
  }

  detach(taskId: string): void {
    const task = this.#tasks.get(taskId);
    if (task === undefined) return;
    task.stopGraceTimer?.();
    task.rule?.end.abort();
    task.rule = undefined;
    if (task.readers === 0) this.#tasks.delete(taskId);
  }

  stop(): void {
    this.#stopped = true;
    for (const taskId of this.#tasks.keys()) this.detach(taskId);
  }

  #applyRuleUntilSettled(taskId: string, task: ReadTask, message: FollowedMessage): void {
    if (this.#stopped) return;
    task.rule?.end.abort();
    const rule = { message, end: new AbortController() };
    task.rule = rule;
    const settled = (): void => {
      if (task.rule === rule) this.detach(taskId);
    };
    this.#untilSettled(taskId, message, rule.end.signal).then(settled, settled);
  }

  /** Resolves when the task, after this message, waits or ends. Also resolves when the signal aborts. */
  async #untilSettled(taskId: string, { seq }: FollowedMessage, signal: AbortSignal): Promise<void> {
    for await (const _ of this.#parts.tasks.follow(taskId, seq, { until: 'settled', signal }));
  }

  #startGraceTimer(taskId: string, task: ReadTask, rule: CancelRule): void {
    const { clock, others } = this.#parts;
    const stopped = new AbortController();
    const cancel = (): void => {
      this.detach(taskId);
      void this.#cancel(taskId, rule.message);
    };
    const wait = async (reading: Pick<ReadersAtOtherServers, 'untilNone'>): Promise<void> => {
      const wasRead = await reading.untilNone(taskId, stopped.signal);
      if (stopped.signal.aborted) return;
      if (wasRead) this.#startGraceTimer(taskId, task, rule);
      else cancel();
    };
    const stop = clock.after(RECONNECT_GRACE_MS, () => (others === undefined ? cancel() : void wait(others)));
    task.stopGraceTimer = () => {
      stop();
      stopped.abort();
    };
  }

  /** Cancels the task, unless a newer message has arrived. */
  async #cancel(taskId: string, { principal, seq }: FollowedMessage): Promise<void> {
    const { tasks, log } = this.#parts;
    const by = { principal, channel: 'disconnect' };
    try {
      await tasks.cancelWork(taskId, by, { messageSeq: seq, reason: REASON });
    } catch (error) {
      const problem = errorMessageOf(error);
      log.warn({ taskId, problem }, 'a task could not be cancelled after a disconnect');
    }
  }
}
