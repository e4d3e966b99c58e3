/**
 * One task of an A2A agent. The client follows the task's events from a cursor, and reconnects after a broken
 * connection.
 *
 * - B1: a task starts exactly once. If the response to the first message is lost, the client sends the same message
 *   with the same id. The server then returns the same task.
 * - S1: no event is lost or repeated. A new connection continues at the cursor.
 */
import { keepReadingStream } from '../../runtime/keep-reading.ts';
import { readResponseEvents } from '../core/response-events.ts';
import { ClientError } from '../core/client-error.ts';
import { Deferred } from '../../runtime/deferred.ts';
import { newId } from '../core/new-id.ts';
import { toBackOffOptions, isRetryable } from '../core/retry-policy.ts';
import type { RetryPolicy } from '../core/retry-policy.ts';
import type { Progress, OnProgress } from '../core/progress.ts';
import { errorFromBody, parseAs } from '../core/http-client.ts';
import type { TaskTransport } from '../core/task-transport.ts';
import type { TaskReport } from '../core/task-report.ts';
import type { Decision, GrantsToRevoke } from '../core/task-request.ts';
import type { AgentRequests } from './agent-requests.ts';
import {
  decisionsMessage,
  revokeMessage,
  textMessage,
  type MessageAddress,
  type SendMessageRequest,
} from './message.ts';
import { TaskFold } from './task-fold.ts';
import { streamResponseSchema } from './wire.ts';

export type A2aTaskBeginning =
  | { request: SendMessageRequest }
  | { taskId: string; after?: number | undefined };

export interface A2aTaskTransportOptions {
  retryPolicy: RetryPolicy;
  quietMs: number;
  /** Names the user interface in which a person decides. The agent records it with each decision. */
  channel: string;
}

export class A2aTaskTransport implements TaskTransport {
  readonly #api: AgentRequests;
  readonly #retryPolicy: RetryPolicy;
  readonly #quietMs: number;
  readonly #beginning: A2aTaskBeginning;
  readonly #channel: string;
  /** Resolves when the server has sent the task id. */
  readonly #named = new Deferred<TaskFold>();
  #fold: TaskFold | undefined;
  /** True between a lost connection and the next response of the server. */
  #lost = false;

  constructor(
    api: AgentRequests,
    { retryPolicy, quietMs, channel }: A2aTaskTransportOptions,
    beginning: A2aTaskBeginning,
  ) {
    this.#api = api;
    this.#retryPolicy = retryPolicy;
    this.#quietMs = quietMs;
    this.#channel = channel;
    this.#beginning = beginning;
  }

  get report(): TaskReport | undefined {
    return this.#fold?.report;
  }

  async follow(tell: OnProgress, reading: AbortSignal): Promise<TaskReport> {
    try {
      return await this.#follow(tell, reading);
    } catch (error) {
      this.#named.reject(error);
      throw error;
    }
  }

  async cancel(reason: string): Promise<void> {
    const { taskId } = await this.#named.promise;
    await this.#api.cancel(taskId, reason);
  }

  cancelLeaving(reason: string): void {
    if (this.#fold !== undefined) this.#api.cancelLeaving(this.#fold.taskId, reason);
    // Without a task id, only a normal cancel is possible, which waits for the id. That cancel may still succeed,
    // because the page may stay open or unload slowly.
    else this.cancel(reason).catch(() => undefined);
  }

  decide(decisions: readonly Decision[]): Promise<void> {
    return this.#send((to) => decisionsMessage(decisions, to));
  }

  revoke(grants: GrantsToRevoke): Promise<void> {
    return this.#send((to) => revokeMessage(grants, to));
  }

  say(text: string): Promise<void> {
    return this.#send((to) => textMessage(text, to));
  }

  /** Sends a message to the task, as soon as the server has sent the task id. */
  async #send(toRequest: (to: MessageAddress & { channel: string }) => SendMessageRequest): Promise<void> {
    const { taskId, sessionId } = await this.#named.promise;
    await this.#api.send(toRequest({ messageId: newId(), sessionId, taskId, channel: this.#channel }));
  }

  async #follow(tell: OnProgress, signal: AbortSignal): Promise<TaskReport> {
    await keepReadingStream({
      backOff: toBackOffOptions(this.#retryPolicy),
      signal,
      position: () => this.#fold?.position ?? null,
      read: (opened) => this.#read(tell, signal, opened),
      passes: isRetryable,
      endedEarly: () =>
        new ClientError('unreachable', 'The server ended the stream before the task had ended.'),
      onCut: (error, attempt) => {
        if (!isRetryable(error)) return;
        this.#lost = true;
        tell({ type: 'reconnecting', attempt, error });
      },
    });
    if (this.#fold === undefined) throw new Error('the stream of the task ended without the task');
    return this.#fold.report;
  }

  async #read(tell: OnProgress, signal: AbortSignal, opened: () => void): Promise<'enough' | 'ended'> {
    const found = await this.#find(tell, signal);
    if (found?.over === true) return 'enough';
    const response = await this.#open(signal);
    opened();
    if (this.#lost) tell({ type: 'reconnected' });
    this.#lost = false;
    for await (const { event, data } of readResponseEvents(response, { quietMs: this.#quietMs, signal })) {
      if (event === 'error') throw errorFromBody(data, 200);
      for (const progress of this.#applyEvent(data)) tell(progress);
      if (this.#fold?.over === true) return 'enough';
    }
    // A2A 1.0 §3.1.2: the response stream of a message ends when the task waits. The client then subscribes, because
    // the stream of a subscription stays open while the task waits.
    return found === undefined && this.#fold?.report.state === 'waiting'
      ? this.#read(tell, signal, opened)
      : 'ended';
  }

  async #find(tell: OnProgress, reading: AbortSignal): Promise<TaskFold | undefined> {
    if (this.#fold !== undefined || 'request' in this.#beginning) return this.#fold;
    const { taskId, after } = this.#beginning;
    const fold = new TaskFold(await this.#api.task(taskId, reading), after);
    this.#begin(fold);
    tell({ type: 'state', report: fold.report });
    return fold;
  }

  #open(reading: AbortSignal): Promise<Response> {
    if (this.#fold !== undefined) return this.#api.subscribe(this.#fold.taskId, this.#fold.position, reading);
    if ('request' in this.#beginning) return this.#api.stream(this.#beginning.request, reading);
    throw new Error('the stream opens before the task is found');
  }

  #applyEvent(data: string): readonly Progress[] {
    const event = parseAs(streamResponseSchema, data);
    if (this.#fold === undefined) {
      // A2A 1.0 §3.1.2: the first event is the task. An agent may send a message instead, but this client needs a task.
      if (event.task === undefined)
        throw new ClientError(
          'malformed-answer',
          'The agent answered with a message, not a task. This client needs an agent that creates tasks.',
        );
      const fold = new TaskFold(event.task);
      this.#begin(fold);
      return [{ type: 'state', report: fold.report }];
    }
    return this.#fold.take(event);
  }

  #begin(fold: TaskFold): void {
    this.#fold = fold;
    this.#named.resolve(fold);
  }
}
