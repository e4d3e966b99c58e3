/**
 * Sends the events of tasks to addresses that clients registered (A2A 1.0 §4.3).
 *
 * Invariants
 * - Events of a task arrive in order, and at least once. The position is stored after each delivery, so a killed server
 *   repeats at most the event whose answer it did not store.
 * - A receiver that is away or slow delays neither its task nor other receivers.
 * - A task that waits needs no timer and no stream. A change of the task wakes its deliveries.
 * - Servers that share a database take turns by a lease, which is stored with the subscription.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Requester } from '../access/requester.ts';
import type { TaskService } from '../executor/task-service.ts';
import type { ChangedTasks } from '../journal/committed-entries.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { JournalEntry } from '../task/events.ts';
import { type Snapshot, TERMINAL_STATES } from '../task/snapshot.ts';
import { checkPushAddress, postNotification, type PushAddresses } from './push-address.ts';
import {
  afterFailure,
  notificationHeaders,
  type PushResult,
  type Subscription,
  subscriptionName,
  subscriptionSchema,
} from './subscription.ts';

const KIND = 'push';
/** The maximum number of configurations of one principal for one task. */
const MAX_PER_TASK = 10;
/** The number of journal entries in one read. */
const READ_AT_ONCE = 100;
/** Longer than a post may take, so that a slow post of one server cannot arrive after later events. */
const LEASE_MS = 15_000;
/** A post takes at most 10 s. */
const RENEWED_BELOW_MS = 12_000;
/** How often servers that share a database look for what others have registered, or left. */
const LOOK_MS = 5_000;

/** What a client registers. An empty `id` gets a new id. */
export interface PushConfig {
  taskId: string;
  id: string;
  url: string;
  token: string;
  authentication: { scheme: string; credentials: string } | null;
}

/** The bodies of notifications. */
export interface PushBodies {
  ofTask(snapshot: Snapshot, subscription: Subscription): string;
  /** Undefined for an entry that clients do not need. */
  ofEntry(entry: JournalEntry, subscription: Subscription): string | undefined;
}

interface PushParts {
  bodies: PushBodies;
  records: Pick<RecordStore, 'read' | 'list' | 'replace' | 'swap' | 'remove'>;
  tasks: Pick<TaskService, 'row' | 'snapshot' | 'entries'>;
  clock: Clock;
  log: Logger;
  addresses: PushAddresses;
  /** True if other servers use the same records. */
  shared: boolean;
  /** Called after each attempt, and when a receiver is given up. */
  onResult?: (result: PushResult) => void;
}

/** A record, and the text that the store has. */
interface Stored {
  subscription: Subscription;
  text: string;
}

/** One journal entry. Without a body, clients do not need it. */
interface Post {
  seq: number;
  body: string | undefined;
}

/** The end of one delivery run. `waits`: at this time the next attempt begins, in milliseconds since 1970. */
type Run = { type: 'over' } | { type: 'idle' } | { type: 'waits'; until: number };

export class PushNotifications {
  readonly #parts: PushParts;
  readonly #server = randomUUID();
  readonly #stop = new AbortController();
  /** The names of the known subscriptions, by task. */
  readonly #byTask = new Map<string, Set<string>>();
  readonly #running = new Map<string, Promise<void>>();
  /** Subscriptions whose task changed while they were delivered. */
  readonly #again = new Set<string>();
  readonly #timers = new Map<string, () => void>();

  constructor(parts: PushParts) {
    this.#parts = parts;
  }

  /** Continues the deliveries of earlier servers. Does not wait for them. */
  start(): void {
    void this.#look();
  }

  /** Stops all deliveries. The next server continues them. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const cancel of this.#timers.values()) cancel();
    await Promise.all(this.#running.values());
  }

  /** Call this when tasks have new events. */
  wake(tasks: ChangedTasks): void {
    if (this.#byTask.size === 0) return;
    for (const taskId of tasks === 'unknown' ? this.#byTask.keys() : tasks)
      for (const name of this.#byTask.get(taskId) ?? []) this.#deliver(name);
  }

  /**
   * Checks what a client wants to register. Stores nothing.
   * @throws ProductError MALFORMED or FORBIDDEN for an address that the server must not connect to
   */
  async check({ url }: Pick<PushConfig, 'url'>): Promise<void> {
    await checkPushAddress(url, this.#parts.addresses);
  }

  /**
   * Registers an address. Then sends the task as it is now, and each later event. Replaces a configuration with the same id.
   * @throws ProductError UNKNOWN_TASK; MALFORMED or FORBIDDEN for the address, or for one configuration too many
   */
  async create(
    config: PushConfig,
    by: Requester,
    form: Pick<Subscription, 'approval' | 'resumable'>,
  ): Promise<Subscription> {
    await this.check(config);
    const { records, tasks, clock } = this.#parts;
    const row = await tasks.row(config.taskId, by);
    const id = config.id === '' ? randomUUID() : config.id;
    const others = (await this.list(config.taskId, by)).filter((each) => each.id !== id);
    if (others.length >= MAX_PER_TASK)
      throw new ProductError(
        'FORBIDDEN',
        `Task ${config.taskId} has ${MAX_PER_TASK} push notification configurations. Delete one of them first.`,
      );
    const subscription: Subscription = {
      ...config,
      id,
      principal: by.principal,
      owner: row.principal,
      sessionId: row.sessionId,
      ...form,
      createdAt: clock.now(),
      cursor: null,
      delivery: { type: 'active' },
      lease: null,
    };
    const name = subscriptionName(by.principal, config.taskId, id);
    await records.replace(KIND, name, JSON.stringify(subscription));
    this.#know(name, subscription);
    this.#deliver(name);
    return subscription;
  }

  /** @throws ProductError UNKNOWN_TASK; UNKNOWN_ADDRESS if the requester has no such configuration */
  async get(taskId: string, id: string, by: Requester): Promise<Subscription> {
    await this.#parts.tasks.row(taskId, by);
    const found = await this.#read(subscriptionName(by.principal, taskId, id));
    if (found === undefined) throw unknownConfig(taskId, id);
    return found.subscription;
  }

  /** Returns the requester's configurations for a task, the oldest first. @throws ProductError UNKNOWN_TASK */
  async list(taskId: string, by: Requester): Promise<Subscription[]> {
    await this.#parts.tasks.row(taskId, by);
    return (await this.#all())
      .map(([, subscription]) => subscription)
      .filter((each) => each.taskId === taskId && each.principal === by.principal)
      .toSorted((one, other) => one.createdAt - other.createdAt);
  }

  /** Deletes a configuration. It is no error if there is none. @throws ProductError UNKNOWN_TASK */
  async delete(taskId: string, id: string, by: Requester): Promise<void> {
    await this.#parts.tasks.row(taskId, by);
    const name = subscriptionName(by.principal, taskId, id);
    await this.#parts.records.remove(KIND, name);
    this.#forget(name, taskId);
  }

  async #all(): Promise<[string, Subscription][]> {
    const records = await this.#parts.records.list(KIND);
    return [...records].flatMap(([name, text]): [string, Subscription][] => {
      const subscription = parsed(text);
      return subscription === undefined ? [] : [[name, subscription]];
    });
  }

  async #read(name: string): Promise<Stored | undefined> {
    const text = await this.#parts.records.read(KIND, name);
    const subscription = text === undefined ? undefined : parsed(text);
    return text === undefined || subscription === undefined ? undefined : { subscription, text };
  }

  /** Starts what waits in the store. Other servers may have added it, or left it. */
  async #look(): Promise<void> {
    try {
      for (const [name, subscription] of await this.#all()) {
        this.#know(name, subscription);
        this.#deliver(name);
      }
    } catch (error) {
      this.#complain(error);
    }
    if (this.#parts.shared && !this.#stop.signal.aborted)
      this.#timers.set(
        KIND,
        this.#parts.clock.after(LOOK_MS, () => void this.#look()),
      );
  }

  #know(name: string, { taskId }: Subscription): void {
    this.#byTask.set(taskId, (this.#byTask.get(taskId) ?? new Set()).add(name));
  }

  #forget(name: string, taskId: string): void {
    this.#timers.get(name)?.();
    this.#timers.delete(name);
    const names = this.#byTask.get(taskId);
    names?.delete(name);
    if (names?.size === 0) this.#byTask.delete(taskId);
  }

  /** Runs one delivery at a time for each subscription. */
  #deliver(name: string): void {
    if (this.#stop.signal.aborted) return;
    if (this.#running.has(name)) {
      this.#again.add(name);
      return;
    }
    this.#timers.get(name)?.();
    this.#timers.delete(name);
    const run = this.#runOnce(name).finally(() => {
      this.#running.delete(name);
      if (this.#again.delete(name)) this.#deliver(name);
    });
    this.#running.set(name, run);
  }

  async #runOnce(name: string): Promise<void> {
    try {
      const end = await this.#run(name);
      if (end.type === 'waits') this.#wait(name, end.until);
    } catch (error) {
      this.#complain(error);
      this.#wait(name, this.#parts.clock.now() + LOOK_MS);
    }
  }

  #wait(name: string, until: number): void {
    if (this.#stop.signal.aborted) return;
    const { clock } = this.#parts;
    this.#timers.set(
      name,
      clock.after(Math.max(0, until - clock.now()), () => this.#deliver(name)),
    );
  }

  /** Delivers until nothing is left, the receiver fails, or another server delivers. */
  async #run(name: string): Promise<Run> {
    while (!this.#stop.signal.aborted) {
      const stored = await this.#read(name);
      if (stored === undefined) return { type: 'over' };
      const { subscription } = stored;
      const until = this.#postponed(subscription);
      if (until !== undefined) return { type: 'waits', until };
      const next = await this.#next(subscription);
      if (next === 'over') {
        await this.#parts.records.remove(KIND, name);
        this.#forget(name, subscription.taskId);
        return { type: 'over' };
      }
      if (next === 'nothing') return { type: 'idle' };
      // Another server may take the delivery at the same time. Only one of the two changes the record.
      const held = await this.#store(name, stored, {
        ...subscription,
        lease: this.#lease(subscription.lease),
      });
      const end = held && (await this.#deliverBatch(name, held, next));
      if (end !== undefined) return end;
    }
    return { type: 'idle' };
  }

  /** Returns the time of the next attempt, in milliseconds since 1970. Undefined if it may begin now. */
  #postponed({ delivery, lease }: Subscription): number | undefined {
    const now = this.#parts.clock.now();
    if (delivery.type === 'retrying' && delivery.at > now) return delivery.at;
    const isTaken = this.#parts.shared && lease !== null && lease.by !== this.#server && lease.until > now;
    return isTaken ? lease.until : undefined;
  }

  /** Posts the entries in order, and stores the position after each. @returns the end of the run, after a failure */
  async #deliverBatch(name: string, held: Stored, entries: readonly Post[]): Promise<Run | undefined> {
    let current = held;
    for (const { seq, body } of entries) {
      if (body !== undefined) {
        const problem = await this.#post(current.subscription, body);
        if (this.#stop.signal.aborted) return { type: 'idle' };
        if (problem !== undefined) return this.#failed(name, current, problem);
        this.#parts.onResult?.('delivered');
      }
      // An entry that clients do not need needs no write of its own.
      if (body === undefined && seq !== entries.at(-1)?.seq) continue;
      const next = await this.#store(name, current, {
        ...current.subscription,
        cursor: seq,
        delivery: { type: 'active' },
        lease: this.#lease(current.subscription.lease),
      });
      // The configuration was deleted, or made again.
      if (next === undefined) return undefined;
      current = next;
    }
    return undefined;
  }

  async #failed(name: string, stored: Stored, problem: string): Promise<Run> {
    const { clock, log, onResult } = this.#parts;
    const { taskId, url, delivery } = stored.subscription;
    const after = afterFailure(delivery, problem, clock.now());
    // Only the host, because the path or the query of such an address is often a secret.
    const receiver = new URL(url).host;
    onResult?.('failed');
    log.warn({ taskId, receiver, problem }, 'a push notification could not be delivered');
    if (after.type === 'dead') {
      onResult?.('given-up');
      log.error(
        { taskId, receiver },
        'a receiver of push notifications was away for a day, so it gets nothing more',
      );
    }
    await this.#store(name, stored, { ...stored.subscription, delivery: after, lease: null });
    return after.type === 'retrying' ? { type: 'waits', until: after.at } : { type: 'over' };
  }

  /** Returns what to send next. `nothing`: the receiver has everything so far. `over`: nothing more will come. */
  async #next(subscription: Subscription): Promise<readonly Post[] | 'nothing' | 'over'> {
    const { tasks, bodies } = this.#parts;
    const { taskId, owner, cursor, delivery } = subscription;
    const reader = { principal: owner };
    try {
      if (delivery.type === 'dead') {
        await tasks.row(taskId, reader);
        return 'nothing';
      }
      if (cursor === null) {
        const snapshot = await tasks.snapshot(taskId, reader);
        return [{ seq: snapshot.seq, body: bodies.ofTask(snapshot, subscription) }];
      }
      const entries = await tasks.entries(taskId, reader, { after: cursor, limit: READ_AT_ONCE });
      if (entries.length > 0)
        return entries.map((entry) => ({ seq: entry.seq, body: bodies.ofEntry(entry, subscription) }));
      const row = await tasks.row(taskId, reader);
      return TERMINAL_STATES.has(row.state) && row.seq === cursor ? 'over' : 'nothing';
    } catch (error) {
      // The task was deleted, and its notifications with it.
      if (error instanceof ProductError && error.reason === 'UNKNOWN_TASK') return 'over';
      throw error;
    }
  }

  /** Returns a lease that lasts longer than one post. */
  #lease(now: Subscription['lease']): Subscription['lease'] {
    if (!this.#parts.shared) return null;
    const time = this.#parts.clock.now();
    const isLongEnough = now !== null && now.by === this.#server && now.until - time > RENEWED_BELOW_MS;
    return isLongEnough ? now : { by: this.#server, until: time + LEASE_MS };
  }

  /** Stores the change. Undefined if somebody else has changed or removed the record. */
  async #store(name: string, before: Stored, subscription: Subscription): Promise<Stored | undefined> {
    const text = JSON.stringify(subscription);
    if (text === before.text) return before;
    const { records } = this.#parts;
    return (await records.swap(KIND, name, before.text, text)) ? { subscription, text } : undefined;
  }

  /** @returns why the notification did not arrive; undefined if it did */
  async #post(subscription: Subscription, body: string): Promise<string | undefined> {
    const headers = notificationHeaders(subscription);
    try {
      await postNotification(
        subscription.url,
        { headers, body, signal: this.#stop.signal },
        this.#parts.addresses,
      );
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  #complain(error: unknown): void {
    this.#parts.log.error({ err: error }, 'push notifications could not be read or stored');
  }
}

function parsed(text: string): Subscription | undefined {
  try {
    return subscriptionSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function unknownConfig(taskId: string, id: string): ProductError {
  return new ProductError(
    'UNKNOWN_TASK',
    `Task ${taskId} has no push notification configuration "${id.slice(0, 100)}". List them to see those that exist.`,
  );
}
