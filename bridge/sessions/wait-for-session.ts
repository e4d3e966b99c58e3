/** Waits for a change of a session. Each wait has a time limit, and ends early when the caller stops waiting. */
import { onAbort } from '../../shared/runtime/abort.ts';
import type { ToolCallEvent } from '../../shared/protocol/tool-approval.ts';
import type { Session } from './session/session.ts';
import type { TaskView } from './session/observed-task.ts';

export type WaitEndReason = 'settled' | 'stream-lost' | 'time' | 'gone';

/**
 * The time in milliseconds in which an agent usually sends the task id. A tool call waits this long even if its own
 * time limit is shorter. So the client nearly always receives the agent's own session id.
 */
export const TASK_ID_TIMEOUT_MS = 5_000;

export interface WaitOptions {
  session: Session;
  /** The delivery of the message. Before it resolves, the session's state says nothing about this message. */
  delivery?: Promise<void> | undefined;
  timeout: number;
  /**
   * If `timeout` is shorter than `TASK_ID_TIMEOUT_MS`, the wait continues until this function returns true, but at most
   * for `TASK_ID_TIMEOUT_MS`.
   */
  atLeast?: ((view: TaskView) => boolean) | undefined;
  /** Aborts when the caller stops waiting. The task continues. */
  signal?: AbortSignal | undefined;
  onActivity?: (activity: ToolCallEvent) => void;
}

/**
 * Waits until the task waits or has ended, until an error, or until the time limit.
 * @throws the error of the session's first message, or of this delivery
 */
export function waitForSession({
  session,
  delivery,
  timeout,
  atLeast = () => true,
  signal,
  onActivity,
}: WaitOptions): Promise<WaitEndReason> {
  return new Promise((resolve, reject) => {
    let delivered = delivery === undefined;
    const named = (): boolean => delivered && session.view !== undefined && atLeast(session.view);
    let late = false;
    const look = (): void => {
      // If the caller passed `delivery`, that promise reports the error, after the outbox is updated.
      const { state } = session;
      if (delivery === undefined && state.type === 'not-delivered' && state.delivery.type === 'given-up')
        return fail(state.delivery.error);
      if (!delivered) return;
      if (session.settled) end('settled');
      else if (session.streamProblem !== undefined) end('stream-lost');
      else if (late && named()) end('time');
    };
    const end = (how: WaitEndReason): void => {
      release();
      resolve(how);
    };
    const fail = (error: unknown): void => {
      release();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const refused = (error: unknown): void => {
      const { state } = session;
      // If the message stays in the outbox, the bridge sends it again later. So this is no error: the state contains
      // the time of the next attempt.
      const kept = state.type === 'not-delivered' && state.delivery.type === 'retrying';
      if (kept) end('time');
      else fail(error);
    };
    const timer = setTimeout(() => {
      late = true;
      if (named()) end('time');
    }, timeout);
    const naming = setTimeout(() => end('time'), Math.max(timeout, TASK_ID_TIMEOUT_MS));
    const stopListening = session.listen((change) => {
      if (change.type === 'activity') onActivity?.(change.activity);
      else if (change.type !== 'stream' && change.type !== 'decisions-sent') look();
    });
    const stopWatching = signal && onAbort(signal, () => queueMicrotask(() => end('gone')));
    const release = (): void => {
      clearTimeout(timer);
      clearTimeout(naming);
      stopListening();
      stopWatching?.();
    };
    delivery?.then(() => {
      delivered = true;
      return look();
    }, refused);
    look();
  });
}

/**
 * Waits until `isDone` returns true. Calls `isDone` now and after each change of the session. Also resolves at the time
 * limit, and when the signal aborts.
 */
export function waitUntil(
  session: Session,
  isDone: () => boolean,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stopListening();
      stopWatching?.();
      resolve();
    };
    const timer = setTimeout(end, timeoutMs);
    const stopListening = session.listen(() => {
      if (isDone()) end();
    });
    const stopWatching = signal && onAbort(signal, () => queueMicrotask(end));
    if (isDone()) end();
  });
}
