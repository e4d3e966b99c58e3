/**
 * Sends the events of tasks to addresses that clients registered (A2A 1.0 §4.3).
 *
 * Invariants
 * - Events of a task arrive in order, and at least once. The position is stored after each delivery. If a server is
 *   killed before it has stored the position, the next server repeats only this event.
 * - A receiver that is unreachable or slow delays neither its task nor other receivers.
 * - A task that waits needs no timer and no stream. A change of the task wakes its deliveries.
 * - Servers that share a database use a lease, which is stored with the subscription. Only the server with the lease
 *   delivers.
 */
import { randomUUID } from 'node:crypto';
import { chatAddress } from '../../shared/chat/chat-message.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import type { CredentialFingerprintOf } from '../access/credential-fingerprints.ts';
import type { ChangedTasks } from '../journal/committed-entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { NotificationSigner } from './notification-signer.ts';
import { receiverHost } from './failing-receivers.ts';
import { KeyedOperations } from './keyed-operations.ts';
import { hasNothingToPush, type PushPost, type PushPostParts, readNextPushPosts } from './next-posts.ts';
import { postNotification, type PushAddressRules } from './push-address.ts';
import type { StoredSubscription, StoredSubscriptions } from './stored-subscriptions.ts';
import {
  nextPushAttemptTime,
  pushDeliveryAfterFailure,
  chatHeaders,
  notificationHeaders,
  type PushResult,
  type PushSubscription,
} from './push-subscription.ts';

/**
 * The duration of a lease. It is longer than a POST may take, so a slow POST of one server cannot arrive after later
 * events of another server.
 */
const LEASE_MS = 15_000;
/**
 * The minimum remaining time of a lease before a POST, which takes at most 10 s. A lease with less time is renewed
 * first.
 */
const RENEWED_BELOW_MS = 12_000;
/** The time between two searches for subscriptions that other servers of the database registered or stopped serving. */
const SEARCH_MS = 5_000;
/** The key of the search in `#operations`. No subscription has this name. */
const SEARCH = 'search';

export interface PushDeliveryParts extends PushPostParts {
  signer: Pick<NotificationSigner, 'sign'>;
  subscriptions: StoredSubscriptions;
  journal: Pick<Journal, 'rows'>;
  clock: Clock;
  log: Logger;
  addresses: PushAddressRules;
  /** True if this issued token was revoked. */
  isRevoked: (tokenId: string) => Promise<boolean>;
  /** Returns the present fingerprints of the tokens in the settings, and of the OpenID Connect provider. */
  fingerprintOf: CredentialFingerprintOf;
  /** The variables with the tokens of chats. */
  env: Environment;
  /** True if other servers use the same records. */
  shared: boolean;
  /** Called after each attempt, and when the server stops trying to reach a receiver. */
  onResult?: (result: PushResult) => void;
}

/**
 * The result of one delivery run. `over`: the subscription has ended, or the server has given up. `idle`: the next
 * event of the task starts another run. `waits`: the next attempt begins at `until`, in milliseconds since 1970.
 */
type DeliveryRunResult = { type: 'over' } | { type: 'idle' } | { type: 'waits'; until: number };

export class PushDeliveries {
  readonly #parts: PushDeliveryParts;
  readonly #server = randomUUID();
  /** The operations on the store, by the name of the subscription or `SEARCH`. */
  readonly #operations: KeyedOperations;
  /** The names of the known subscriptions, by task id. */
  readonly #byTask = new Map<string, Set<string>>();
  /** The names of the subscriptions that have lost their access. The log reports each of them once. */
  readonly #withoutAccess = new Set<string>();

  constructor(parts: PushDeliveryParts) {
    this.#parts = parts;
    this.#operations = new KeyedOperations(parts.clock);
  }

  /** Stops all deliveries, and waits until none of them uses the store. The next server continues them. */
  async stop(): Promise<void> {
    await this.#operations.stop();
  }

  /** Delivers the new events of these tasks. Call this when tasks have new events. */
  wake(tasks: ChangedTasks): void {
    if (this.#byTask.size === 0) return;
    for (const taskId of tasks === 'unknown' ? this.#byTask.keys() : tasks)
      for (const name of this.#byTask.get(taskId) ?? []) this.#deliver(name, taskId);
  }

  /** Starts the delivery of a new subscription, or of one that replaces another. */
  add(name: string, subscription: PushSubscription): void {
    this.#addToTask(name, subscription);
    this.#deliver(name, subscription.taskId);
  }

  /**
   * Delivers to a failing receiver now, and not only at the time of the next attempt. Continues at the stored position.
   */
  async retry(name: string): Promise<void> {
    const { subscriptions } = this.#parts;
    // A delivery that ends at the same time may change the record first. Then the loop reads the record again.
    for (;;) {
      const stored = await subscriptions.read(name);
      if (stored === undefined || stored.subscription.delivery.type === 'active') return;
      const { subscription } = stored;
      const active = { ...subscription, delivery: { type: 'active' } } as const;
      if ((await subscriptions.change(name, stored, active)) !== undefined)
        return this.add(name, subscription);
    }
  }

  /**
   * Reads the subscriptions and the requests to retry from the store, because other processes may have changed them.
   * Starts the deliveries that have something to send.
   */
  readOtherChanges(): void {
    this.#operations.run(SEARCH, () => this.#startAll());
  }

  /**
   * Starts the delivery of each stored subscription that has something to send. Another server may have added the
   * subscription, or may have stopped. Two queries find all of these subscriptions, so a receiver that has every event
   * costs little.
   */
  async #startAll(): Promise<void> {
    try {
      for (const name of await this.#parts.subscriptions.requestedRetries()) {
        await this.retry(name);
        await this.#parts.subscriptions.forgetRetry(name);
      }
      const all = await this.#parts.subscriptions.all();
      // The subscriptions are added to memory before the rows of their tasks are read. So an event that comes after
      // this read wakes its subscriptions.
      for (const [name, subscription] of all) this.#addToTask(name, subscription);
      const taskIds = [...new Set(all.map(([, { taskId }]) => taskId))];
      const rows = new Map((await this.#parts.journal.rows(taskIds)).map((row) => [row.taskId, row]));
      for (const [name, subscription] of all)
        if (!hasNothingToPush(subscription, rows.get(subscription.taskId)))
          this.#deliver(name, subscription.taskId);
    } catch (error) {
      this.#logError(error);
    }
    if (this.#parts.shared) this.#operations.runLater(SEARCH, SEARCH_MS, () => this.#startAll());
  }

  #addToTask(name: string, { taskId }: PushSubscription): void {
    this.#byTask.set(taskId, (this.#byTask.get(taskId) ?? new Set()).add(name));
  }

  /** Removes a subscription from memory, and cancels its next attempt. */
  forget(name: string, taskId: string): void {
    this.#operations.cancelTimer(name);
    this.#withoutAccess.delete(name);
    const names = this.#byTask.get(taskId);
    names?.delete(name);
    if (names?.size === 0) this.#byTask.delete(taskId);
  }

  /** Runs one delivery at a time for each subscription. */
  #deliver(name: string, taskId: string): void {
    this.#operations.run(name, () => this.#runOnce(name, taskId));
  }

  async #runOnce(name: string, taskId: string): Promise<void> {
    try {
      const end = await this.#deliverAll(name, taskId);
      if (end.type !== 'waits') return;
      const ms = Math.max(0, end.until - this.#parts.clock.now());
      this.#operations.runLater(name, ms, () => this.#runOnce(name, taskId));
    } catch (error) {
      this.#logError(error);
      this.#operations.runLater(name, SEARCH_MS, () => this.#runOnce(name, taskId));
    }
  }

  /** Delivers until the receiver has everything, the receiver fails, or another server delivers. */
  async #deliverAll(name: string, taskId: string): Promise<DeliveryRunResult> {
    while (!this.#operations.signal.aborted) {
      const stored = await this.#parts.subscriptions.read(name);
      if (stored === undefined) {
        // Another server of the database may have ended the subscription.
        this.forget(name, taskId);
        return { type: 'over' };
      }
      const { subscription } = stored;
      // The name is added to memory again. An earlier run may have removed it while a client registered a new
      // subscription with the same name.
      this.#addToTask(name, subscription);
      if (await this.#isRevoked(subscription)) {
        // E3: a client may have registered the address again meanwhile, with another token.
        if (!(await this.#parts.subscriptions.remove(name, stored))) continue;
        this.forget(name, taskId);
        this.#logStop(subscription, 'its token was revoked');
        return { type: 'over' };
      }
      if (this.#hasLostAccess(subscription)) {
        if (!this.#withoutAccess.has(name))
          this.#logStop(subscription, 'the settings no longer have its token or provider');
        this.#withoutAccess.add(name);
        return { type: 'idle' };
      }
      const until = this.#nextAttemptTime(subscription);
      if (until !== undefined) return { type: 'waits', until };
      const next = await readNextPushPosts(this.#parts, subscription);
      if (next === 'over') {
        if (await this.#removeSubscription(name, stored)) return { type: 'over' };
        continue;
      }
      if (next === 'nothing') return { type: 'idle' };
      if ('until' in next) return { type: 'waits', until: next.until };
      // Another server may take the delivery at the same time. Only one of the two changes the record.
      const held = await this.#parts.subscriptions.change(name, stored, {
        ...subscription,
        lease: this.#newLease(subscription.lease),
      });
      const end = held && (await this.#deliverBatch(name, held, next));
      if (end !== undefined) return end;
    }
    return { type: 'idle' };
  }

  /** X1: a revoked token may be stolen, so an address that it registered must get nothing more. */
  async #isRevoked({ tokenId }: PushSubscription): Promise<boolean> {
    return tokenId !== undefined && this.#parts.isRevoked(tokenId);
  }

  /**
   * X1: true if the settings no longer have the token, or the provider, that registered the address. The record stays,
   * because the settings of another server of the database may still have this token or provider.
   */
  #hasLostAccess({ principal, provided, mark }: PushSubscription): boolean {
    return (
      mark !== undefined && mark !== this.#parts.fingerprintOf({ principal, provided: provided === true })
    );
  }

  #logStop({ taskId, url }: PushSubscription, problem: string): void {
    const receiver = receiverHost(url);
    this.#parts.log.warn({ taskId, receiver, problem }, 'a receiver of push notifications gets nothing more');
  }

  /** Removes a subscription. Returns false if a client has registered it again meanwhile, or if a chat needs it again. */
  async #removeSubscription(name: string, stored: StoredSubscription): Promise<boolean> {
    const { subscriptions } = this.#parts;
    const { subscription } = stored;
    if (!(await subscriptions.remove(name, stored))) return false;
    this.forget(name, subscription.taskId);
    if (subscription.chat === undefined) return true;
    // An event before the removal created no new subscription, because this one still existed. If the chat needs a
    // message about that event, the subscription is created again here.
    if ((await readNextPushPosts(this.#parts, subscription)) === 'over') return true;
    if (await subscriptions.create(name, subscription)) this.#addToTask(name, subscription);
    return false;
  }

  /** Returns the time of the next attempt, in milliseconds since 1970. Undefined if it may begin now. */
  #nextAttemptTime({ delivery, lease }: PushSubscription): number | undefined {
    const now = this.#parts.clock.now();
    const retryAt = nextPushAttemptTime(delivery, now);
    if (retryAt !== undefined) return retryAt;
    if (!this.#parts.shared || lease === null || lease.by === this.#server) return undefined;
    const remaining = lease.until - now;
    // If more time remains than a lease lasts, the clock was set back. Such a lease counts as ended.
    return remaining > 0 && remaining <= LEASE_MS ? lease.until : undefined;
  }

  /**
   * Posts the entries in order, and stores the position after each.
   * @returns the result of the delivery run if a post fails or this server stops; undefined if the run continues
   */
  async #deliverBatch(
    name: string,
    held: StoredSubscription,
    entries: readonly PushPost[],
  ): Promise<DeliveryRunResult | undefined> {
    let current = held;
    for (const { seq, body, counted } of entries) {
      if (body !== undefined) {
        // `#deliverAll` then finds the revoked token too, and removes the subscription.
        if (await this.#isRevoked(current.subscription)) return undefined;
        const problem = await this.#post(current.subscription, body);
        if (this.#operations.signal.aborted) return { type: 'idle' };
        if (problem !== undefined) return this.#recordFailure(name, current, problem);
        this.#parts.onResult?.('delivered');
      }
      // The position after an entry without a body is stored together with a later entry.
      if (body === undefined && seq !== entries.at(-1)?.seq) continue;
      const next = await this.#parts.subscriptions.change(name, current, {
        ...current.subscription,
        cursor: seq,
        ...(counted && { counted }),
        delivery: { type: 'active' },
        lease: this.#newLease(current.subscription.lease),
      });
      // A client deleted or replaced the configuration during the POST.
      if (next === undefined) return undefined;
      current = next;
    }
    return undefined;
  }

  async #recordFailure(
    name: string,
    stored: StoredSubscription,
    problem: string,
  ): Promise<DeliveryRunResult> {
    const { clock, log, onResult } = this.#parts;
    const { taskId, url, delivery } = stored.subscription;
    const after = pushDeliveryAfterFailure(delivery, problem, clock.now());
    const receiver = receiverHost(url);
    onResult?.('failed');
    log.warn({ taskId, receiver, problem }, 'a push notification could not be delivered');
    const { subscriptions } = this.#parts;
    const changed = { ...stored.subscription, delivery: after, lease: null };
    const isStored = (await subscriptions.change(name, stored, changed)) !== undefined;
    if (after.type === 'dead' && isStored) {
      onResult?.('given-up');
      log.error(
        { taskId, receiver },
        'all attempts to reach a receiver of push notifications have failed, so it gets nothing more; see a2a-server push failing',
      );
    }
    return after.type === 'retrying' ? { type: 'waits', until: after.at } : { type: 'over' };
  }

  /** Returns a lease of this server that lasts longer than one post. Null if no other server uses the records. */
  #newLease(now: PushSubscription['lease']): PushSubscription['lease'] {
    if (!this.#parts.shared) return null;
    const time = this.#parts.clock.now();
    const isLongEnough = now !== null && now.by === this.#server && now.until - time > RENEWED_BELOW_MS;
    return isLongEnough ? now : { by: this.#server, until: time + LEASE_MS };
  }

  /** Posts one notification. @returns the reason for a failure; undefined if the notification arrived */
  async #post(subscription: PushSubscription, body: string): Promise<string | undefined> {
    const { signer, addresses, clock } = this.#parts;
    const { signal } = this.#operations;
    const { wire, url } = subscription;
    try {
      if (wire === '1.0' || wire === '0.3') {
        const headers = notificationHeaders(subscription, await signer.sign({ ...subscription, body }));
        await postNotification(url, { headers, body, signal, clock }, addresses);
      } else {
        // The operator chose the address, so it may be private. A chat checks no signature.
        const headers = chatHeaders(subscription, this.#parts.env);
        const chosen = { ...addresses, allowed: () => true };
        await postNotification(chatAddress({ format: wire, url }), { headers, body, signal, clock }, chosen);
      }
      return undefined;
    } catch (error) {
      return errorMessageOf(error);
    }
  }

  #logError(error: unknown): void {
    this.#parts.log.error({ err: error }, 'push notifications could not be read or stored');
  }
}
