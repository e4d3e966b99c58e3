/**
 * Reads and writes subscriptions in the record store. A record that cannot be parsed is treated as missing.
 *
 * Only a server changes a subscription. A command line stores a request to retry in a separate record, and a server
 * carries it out.
 */
import { parseJson } from '../../shared/text/parse-json.ts';
import type { RecordStore } from '../records/record-store.ts';
import {
  recordNamePrefixOfTask,
  type PushSubscription,
  pushSubscriptionSchema,
} from './push-subscription.ts';

const KIND = 'push';
/** The kind of the requests to retry. Such a record has the name of its subscription. */
const RETRIES = 'push-retries';

/** A subscription, and the name of its record. */
export type NamedSubscription = readonly [name: string, subscription: PushSubscription];

/** A subscription, with its text in the store. */
export interface StoredSubscription {
  subscription: PushSubscription;
  text: string;
}

export type PushRecords = Pick<RecordStore, 'read' | 'list' | 'create' | 'replace' | 'swap' | 'remove'>;

export class StoredSubscriptions {
  readonly #records: PushRecords;

  constructor(records: PushRecords) {
    this.#records = records;
  }

  /** Returns all subscriptions, by the names of their records. */
  all(): Promise<NamedSubscription[]> {
    return this.#list('');
  }

  ofTask(taskId: string): Promise<NamedSubscription[]> {
    return this.#list(recordNamePrefixOfTask(taskId));
  }

  async #list(prefix: string): Promise<NamedSubscription[]> {
    const records = await this.#records.list(KIND, prefix);
    return [...records].flatMap(([name, text]): NamedSubscription[] => {
      const subscription = parseSubscription(text);
      return subscription === undefined ? [] : [[name, subscription]];
    });
  }

  async read(name: string): Promise<StoredSubscription | undefined> {
    const text = await this.#records.read(KIND, name);
    const subscription = text === undefined ? undefined : parseSubscription(text);
    return text === undefined || subscription === undefined ? undefined : { subscription, text };
  }

  /** Creates a record. Returns false if it exists. */
  create(name: string, subscription: PushSubscription): Promise<boolean> {
    return this.#records.create(KIND, name, JSON.stringify(subscription));
  }

  async replace(name: string, subscription: PushSubscription): Promise<void> {
    await this.#records.replace(KIND, name, JSON.stringify(subscription));
  }

  /** Stores the change. Returns undefined if another request or server has changed or removed the record. */
  async change(
    name: string,
    before: StoredSubscription,
    subscription: PushSubscription,
  ): Promise<StoredSubscription | undefined> {
    const text = JSON.stringify(subscription);
    if (text === before.text) return before;
    return (await this.#records.swap(KIND, name, { before: before.text, after: text }))
      ? { subscription, text }
      : undefined;
  }

  /** Asks the servers of these records to deliver to this receiver now. */
  async requestRetry(name: string): Promise<void> {
    await this.#records.replace(RETRIES, name, '{}');
  }

  /** Returns the names of the subscriptions that a command wants to retry. */
  async requestedRetries(): Promise<string[]> {
    return [...(await this.#records.list(RETRIES)).keys()];
  }

  async forgetRetry(name: string): Promise<void> {
    await this.#records.remove(RETRIES, name);
  }

  /**
   * Removes a record. Returns false if there is no such record.
   * @param stored if present, the record is removed only if it was not changed or replaced since it was read
   */
  remove(name: string, stored?: StoredSubscription): Promise<boolean> {
    return this.#records.remove(KIND, name, stored?.text);
  }
}

function parseSubscription(text: string): PushSubscription | undefined {
  return pushSubscriptionSchema.safeParse(parseJson(text)).data;
}
