/**
 * Sends status notifications of tasks over stdio, to clients that request them with `subscriptions/listen`. The SDK
 * answers this method itself, and does not know these notifications. So this class wraps the transport and adds the
 * notifications. All other messages pass unchanged.
 */
import {
  type JSONRPCMessage,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { DetailedTask } from './detailed-task.ts';
import {
  declaredTasks,
  missingTasksError,
  parseTaskSubscription,
  type TaskSubscription,
} from './parse-task-subscription.ts';

/** The maximum number of tasks that the bridge watches for one subscription. */
const MAX_TASKS = 1_000;

const requestId = z.union([z.string(), z.number()]);
const cancelled = z.looseObject({
  method: z.literal('notifications/cancelled'),
  params: z.looseObject({ requestId }),
});
const acknowledged = z.looseObject({
  method: z.literal('notifications/subscriptions/acknowledged'),
  params: z.looseObject({
    notifications: z.looseObject({}),
    _meta: z.looseObject({ [SUBSCRIPTION_ID_META_KEY]: requestId }),
  }),
});
type Acknowledgement = z.infer<typeof acknowledged>;

/**
 * Starts to watch a task.
 * @param opensUrls true if the client declares forms in URL mode
 * @throws Error for an unknown task
 */
type StartWatch = (
  taskId: string,
  push: (task: DetailedTask) => void,
  opensUrls: boolean,
) => Promise<() => void>;

interface Subscription {
  taskIds: readonly string[];
  opensUrls: boolean;
  stops: (() => void)[];
}

export class TaskSubscriptionTransport implements Transport {
  onmessage: Transport['onmessage'];
  onclose: Transport['onclose'];
  onerror: Transport['onerror'];
  readonly #inner: Transport;
  readonly #watch: StartWatch;
  readonly #subscriptions = new Map<string | number, Subscription>();

  constructor(inner: Transport, watch: StartWatch) {
    this.#inner = inner;
    this.#watch = watch;
    Object.assign(inner, {
      onmessage: (message: JSONRPCMessage) => this.#handleMessage(message),
      onclose: () => this.#stopAll(),
      onerror: (error: Error) => this.onerror?.(error),
    });
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const ack = acknowledged.safeParse(message).data;
    const id = ack?.params['_meta'][SUBSCRIPTION_ID_META_KEY];
    const subscription = id === undefined ? undefined : this.#subscriptions.get(id);
    if (ack === undefined || id === undefined || subscription === undefined)
      return this.#inner.send(message, options);
    try {
      await this.#acknowledge(ack, { id, subscription, options });
    } catch (error) {
      // The acknowledgement was not sent, so the client expects no notifications.
      this.#end(id, subscription);
      throw error;
    }
  }

  /** Starts to watch the tasks, and sends the acknowledgement. */
  async #acknowledge(
    { method, params }: Acknowledgement,
    {
      id,
      subscription,
      options,
    }: { id: string | number; subscription: Subscription; options: TransportSendOptions | undefined },
  ): Promise<void> {
    // The notifications wait here until the acknowledgement was sent. It must be the first message, and it lists the
    // tasks that the bridge can watch.
    const pushes: DetailedTask[] = [];
    let open = false;
    const push = (task: DetailedTask): void => {
      if (open) this.#push(id, task);
      else pushes.push(task);
    };
    const { opensUrls } = subscription;
    const watched = await Promise.all(
      subscription.taskIds.map(async (taskId) => {
        const stop = await this.#watch(taskId, push, opensUrls).catch(() => undefined);
        if (stop === undefined) return [];
        subscription.stops.push(stop);
        return [taskId];
      }),
    );
    const notifications = { ...params.notifications, taskIds: watched.flat() };
    await this.#inner.send({ jsonrpc: '2.0', method, params: { ...params, notifications } }, options);
    open = true;
    // The client may have cancelled the subscription meanwhile.
    if (this.#subscriptions.get(id) !== subscription) return stopAll(subscription);
    for (const task of pushes) this.#push(id, task);
  }

  #handleMessage(message: JSONRPCMessage): void {
    const listen = parseTaskSubscription(message);
    if (listen !== undefined && !this.#registerSubscription(listen)) return;
    const gone = cancelled.safeParse(message).data?.params.requestId;
    if (gone !== undefined) this.#stop(gone);
    this.onmessage?.(message);
  }

  /**
   * Registers the subscription. Returns false if the client does not declare the extension. The client then gets an
   * error.
   */
  #registerSubscription({ id, params }: TaskSubscription): boolean {
    const declared = declaredTasks(params);
    if (declared !== undefined) {
      const { elicitation } = declared['io.modelcontextprotocol/clientCapabilities'];
      const taskIds = [...new Set(params.notifications.taskIds)].slice(0, MAX_TASKS);
      // A client may use an id again. Its earlier subscription ends then.
      this.#stop(id);
      this.#subscriptions.set(id, { taskIds, opensUrls: elicitation?.url !== undefined, stops: [] });
      return true;
    }
    this.#logSendingErrors(this.#inner.send(missingTasksError(id)));
    return false;
  }

  #push(id: string | number, task: DetailedTask): void {
    if (!this.#subscriptions.has(id)) return;
    const params = { ...task, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } };
    this.#logSendingErrors(this.#inner.send({ jsonrpc: '2.0', method: 'notifications/tasks', params }));
  }

  #logSendingErrors(sending: Promise<void>): void {
    sending.catch((error: unknown) =>
      this.onerror?.(error instanceof Error ? error : new Error(String(error))),
    );
  }

  #stop(id: string | number): void {
    const subscription = this.#subscriptions.get(id);
    if (subscription !== undefined) this.#end(id, subscription);
  }

  #end(id: string | number, subscription: Subscription): void {
    if (this.#subscriptions.get(id) === subscription) this.#subscriptions.delete(id);
    stopAll(subscription);
  }

  #stopAll(): void {
    for (const id of this.#subscriptions.keys()) this.#stop(id);
    this.onclose?.();
  }
}

function stopAll({ stops }: Subscription): void {
  for (const stop of stops.splice(0)) stop();
}
