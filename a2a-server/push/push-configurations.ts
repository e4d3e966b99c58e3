/**
 * Manages the push notification configurations of clients (A2A 1.0 §3.1.7 to §3.1.10, A2A 0.3 §7.5 to §7.8). Each
 * configuration is a subscription, which `deliveries.ts` delivers.
 */
import { randomUUID } from 'node:crypto';
import { ProductError } from '../../shared/runtime/errors.ts';
import { KeyedMutex } from '../runtime/keyed-mutex.ts';
import { maySeeTasksOf, type Requester } from '../access/requester.ts';
import type { NewAuditRecord } from '../audit/audit-record.ts';
import type { ChangedTasks } from '../journal/committed-entries.ts';
import type { RecordStore } from '../records/record-store.ts';
import { PushDeliveries, type PushDeliveryParts } from './deliveries.ts';
import {
  type FailingReceiver,
  requireFailingReceiver,
  failingReceiversOf,
  retryAuditAct,
} from './failing-receivers.ts';
import { requireAllowedPushAddress } from './push-address.ts';
import { type NamedSubscription, type PushRecords, StoredSubscriptions } from './stored-subscriptions.ts';
import {
  OPERATOR_PRINCIPAL,
  type PushSubscription,
  requireSendableHeaders,
  subscriptionRecordName,
} from './push-subscription.ts';

/**
 * The maximum number of configurations of one principal for one task. Servers that share a database do not wait for
 * each other. So concurrent requests to several servers may exceed this number.
 */
const MAX_PER_TASK = 10;

/** The configuration that a client registers. An empty `id` gets a new id. */
export interface PushConfig {
  taskId: string;
  id: string;
  url: string;
  token: string;
  authentication: { scheme: string; credentials: string } | null;
}

type ConfigForm = Pick<PushSubscription, 'wire' | 'approval' | 'resumable' | 'tokenId' | 'provided'>;

interface MessageWithConfig<Sent> {
  /** Returns the configuration for this task. `taskId` is empty if the message has not started its task yet. */
  configOf: (taskId: string) => PushConfig;
  /** Returns the session and the task of the message. `taskId` is absent if the message would start a task. */
  recipient: () => Promise<{ sessionId: string; taskId?: string }>;
  send: () => Promise<Sent>;
}

interface PushParts extends Omit<PushDeliveryParts, 'subscriptions'> {
  records: PushRecords & Pick<RecordStore, 'watch'>;
  /** Writes to the audit log. */
  audited: (act: NewAuditRecord) => Promise<void>;
}

export class PushConfigurations {
  readonly #parts: PushParts;
  readonly #subscriptions: StoredSubscriptions;
  readonly #deliveries: PushDeliveries;
  readonly #registrations = new KeyedMutex();
  #unwatch: () => void = () => undefined;

  constructor(parts: PushParts) {
    this.#parts = parts;
    this.#subscriptions = new StoredSubscriptions(parts.records);
    this.#deliveries = new PushDeliveries({ ...parts, subscriptions: this.#subscriptions });
  }

  /** Continues the deliveries of earlier servers. Does not wait for them. */
  start(): void {
    const { shared, records } = this.#parts;
    this.#deliveries.readOtherChanges();
    // The command `push retry` records that the server must deliver again. A server with its own database watches these
    // records. Servers that share a database search it regularly instead.
    if (!shared) this.#unwatch = records.watch('push-retries', () => this.#deliveries.readOtherChanges());
  }

  /**
   * Stops all deliveries. The next server continues them. After the returned promise has resolved, this server no
   * longer reads or writes subscriptions.
   */
  stop(): Promise<void> {
    this.#unwatch();
    return this.#deliveries.stop();
  }

  /** Delivers the new events of these tasks. Call this when tasks have new events. */
  wake(tasks: ChangedTasks): void {
    this.#deliveries.wake(tasks);
  }

  /**
   * Registers an address. Then sends the task as it is now, and each later event. Replaces a configuration with the
   * same id.
   * @throws ProductError UNKNOWN_TASK; MALFORMED or FORBIDDEN for an address that the server must not connect to, for
   * secrets that no header can contain, or for one configuration too many
   */
  async create(config: PushConfig, by: Requester, form: ConfigForm): Promise<PushSubscription> {
    const logRefusal = this.#refusalLog(by, config.taskId);
    await this.#requireDeliverable(config).catch(logRefusal);
    const { sessionId } = await this.#parts.tasks.row(config.taskId, by);
    return this.#inTurn(by, sessionId, async () => {
      await this.#requireRoom(config, by).catch(logRefusal);
      return this.#register(config, by, form);
    });
  }

  /**
   * Sends a message, and registers an address for its task. E3: a refused command changes nothing. So each reason for a
   * refusal of the address is checked before the message is sent.
   * @throws ProductError as `create`, and the errors of `send`
   */
  async createWithMessage<Sent extends { taskId: string }>(
    { configOf, recipient, send }: MessageWithConfig<Sent>,
    by: Requester,
    form: ConfigForm,
  ): Promise<Sent> {
    const { sessionId, taskId: named } = await recipient();
    await this.#requireDeliverable(configOf(named ?? '')).catch(this.#refusalLog(by, named));
    return this.#inTurn(by, sessionId, async () => {
      // An earlier message may have started a task in this session.
      const { taskId } = await recipient();
      if (taskId !== undefined)
        await this.#requireRoom(configOf(taskId), by).catch(this.#refusalLog(by, taskId));
      const sent = await send();
      await this.#register(configOf(sent.taskId), by, form);
      return sent;
    });
  }

  /**
   * Runs `act` after the earlier registrations of this principal in this session. So no other registration for the task
   * happens between the check of the limit and the registration. All messages to a task, and the message that starts
   * it, belong to one session.
   */
  #inTurn<Result>({ principal }: Requester, sessionId: string, act: () => Promise<Result>): Promise<Result> {
    return this.#registrations.run(`${principal} ${sessionId}`, act);
  }

  async #register(config: PushConfig, by: Requester, form: ConfigForm): Promise<PushSubscription> {
    const { tasks, clock, fingerprintOf } = this.#parts;
    const { principal } = by;
    const { tokenId, provided } = form;
    const mark =
      tokenId === undefined ? fingerprintOf({ principal, provided: provided === true }) : undefined;
    const row = await tasks.row(config.taskId, by);
    const id = config.id === '' ? randomUUID() : config.id;
    const subscription: PushSubscription = {
      ...config,
      id,
      principal,
      owner: row.principal,
      sessionId: row.sessionId,
      ...form,
      ...(mark !== undefined && { mark }),
      createdAt: clock.now(),
      cursor: null,
      delivery: { type: 'active' },
      lease: null,
    };
    const name = subscriptionRecordName(by.principal, config.taskId, id);
    await this.#subscriptions.replace(name, subscription);
    this.#deliveries.add(name, subscription);
    return subscription;
  }

  /**
   * Returns a configuration of the requester.
   * @throws ProductError UNKNOWN_TASK, also if the requester has no such configuration
   */
  async get(taskId: string, id: string, by: Requester): Promise<PushSubscription> {
    await this.#parts.tasks.row(taskId, by);
    const found = await this.#subscriptions.read(subscriptionRecordName(by.principal, taskId, id));
    if (found === undefined) throw unknownConfig(taskId, id);
    return found.subscription;
  }

  /** Returns the requester's configurations for a task, the oldest first. @throws ProductError UNKNOWN_TASK */
  async list(taskId: string, by: Requester): Promise<PushSubscription[]> {
    await this.#parts.tasks.row(taskId, by);
    return (await this.#subscriptions.ofTask(taskId))
      .map(([, subscription]) => subscription)
      .filter((each) => each.principal === by.principal)
      .toSorted((one, other) => one.createdAt - other.createdAt);
  }

  /** Adds subscriptions of the operator's webhooks. Existing subscriptions stay unchanged. */
  async addForOperator(subscriptions: readonly NamedSubscription[]): Promise<void> {
    for (const [name, subscription] of subscriptions)
      if (await this.#subscriptions.create(name, subscription)) this.#deliveries.add(name, subscription);
  }

  /** Removes each webhook subscription of the operator whose id is not in `ids`. */
  async keepForOperator(ids: ReadonlySet<string>): Promise<void> {
    for (const [name, { principal, id, taskId }] of await this.#subscriptions.all()) {
      if (principal !== OPERATOR_PRINCIPAL || ids.has(id)) continue;
      await this.#subscriptions.remove(name);
      this.#deliveries.forget(name, taskId);
    }
  }

  /** Returns the failing receivers of the tasks that the requester may use. */
  async failing(by: Requester): Promise<FailingReceiver[]> {
    return failingReceiversOf(await this.#subscriptionsOf(by));
  }

  /**
   * Lets the delivery to a failing receiver continue at once, from the stored position.
   * @param id the id, or its beginning
   * @throws ProductError UNKNOWN_ADDRESS
   */
  async retry(id: string, by: Requester): Promise<FailingReceiver> {
    const { name, receiver } = requireFailingReceiver(await this.#subscriptionsOf(by), id);
    await this.#deliveries.retry(name);
    await this.#parts.audited({ ...retryAuditAct(receiver), by: by.principal });
    return receiver;
  }

  /** Logs a refusal and throws it. X1: an address may contain a secret, so it is not logged. */
  #refusalLog({ principal }: Requester, taskId: string | undefined): (error: unknown) => never {
    return (error) => {
      if (error instanceof ProductError)
        this.#parts.log.info(
          { taskId, principal, reason: error.reason },
          'a push notification configuration was refused',
        );
      throw error;
    };
  }

  async #requireDeliverable(config: PushConfig): Promise<void> {
    requireSendableHeaders(config);
    await requireAllowedPushAddress(config.url, this.#parts.addresses);
  }

  async #requireRoom({ taskId, id }: Pick<PushConfig, 'taskId' | 'id'>, by: Requester): Promise<void> {
    const others = (await this.list(taskId, by)).filter((each) => each.id !== id);
    if (others.length >= MAX_PER_TASK)
      throw new ProductError(
        'FORBIDDEN',
        `Task ${taskId} has ${MAX_PER_TASK} push notification configurations. Delete one of them first.`,
      );
  }

  async #subscriptionsOf(by: Requester): Promise<NamedSubscription[]> {
    return (await this.#subscriptions.all()).filter(([, { owner }]) => maySeeTasksOf(by, owner));
  }

  /** Deletes a configuration. Succeeds even if there is none. @throws ProductError UNKNOWN_TASK */
  async delete(taskId: string, id: string, by: Requester): Promise<void> {
    await this.#parts.tasks.row(taskId, by);
    const name = subscriptionRecordName(by.principal, taskId, id);
    await this.#subscriptions.remove(name);
    this.#deliveries.forget(name, taskId);
  }
}

function unknownConfig(taskId: string, id: string): ProductError {
  return new ProductError(
    'UNKNOWN_TASK',
    `Task ${taskId} has no push notification configuration "${id.slice(0, 100)}". List them to see those that exist.`,
  );
}
