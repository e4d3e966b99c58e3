/** Lists the failing receivers of push notifications, for the operator. Pure. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { NamedSubscription } from './stored-subscriptions.ts';
import { receiverIdInRecordName } from './push-subscription.ts';

/** A receiver that fails, with the state of its delivery. Times are RFC 3339. */
export interface FailingReceiver {
  id: string;
  /** `retrying`: the server tries again. `dead`: the server has given up. */
  state: 'retrying' | 'dead';
  /** The host of the address. The rest of an address is often a secret. */
  receiver: string;
  taskId: string;
  /** The principal that registered the address. */
  principal: string;
  /** The time of the first failure since the last success. */
  since: string;
  /** The reason of the last failure. */
  problem: string;
  /** The time of the next attempt. Null if there is no further attempt. */
  nextAttempt: string | null;
}

/** Returns the failing receivers. The receiver that has failed for the longest time is first. */
export function failingReceiversOf(all: readonly NamedSubscription[]): FailingReceiver[] {
  return all.flatMap((named) => viewOf(named) ?? []).toSorted(bySince);
}

/**
 * Returns the failing receiver with this id, and the name of its subscription.
 * @param id the id, or its beginning
 * @throws ProductError UNKNOWN_ADDRESS if no receiver, or more than one, has this id
 */
export function requireFailingReceiver(
  all: readonly NamedSubscription[],
  id: string,
): { name: string; receiver: FailingReceiver } {
  const found = all.flatMap((named) => {
    const receiver = viewOf(named);
    return receiver !== undefined && id !== '' && receiver.id.startsWith(id)
      ? [{ name: named[0], receiver }]
      : [];
  });
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const problem = found.length === 0 ? 'No failing receiver has' : `${found.length} failing receivers have`;
  throw new ProductError(
    'UNKNOWN_ADDRESS',
    `${problem} the id ${JSON.stringify(id.slice(0, 100))}. \`a2a-server push failing\` lists them.`,
  );
}

/**
 * Returns the audit record of a retry. `principal` has registered the receiver. The record of a retry over HTTP also
 * gets `by`, the principal that asked for the retry (`PushConfigurations.retry`).
 */
export function retryAuditAct({ taskId, receiver, principal }: FailingReceiver) {
  return { act: 'push.retried', taskId, receiver, principal } as const;
}

function viewOf([name, subscription]: NamedSubscription): FailingReceiver | undefined {
  const { delivery, url, taskId, principal } = subscription;
  if (delivery.type === 'active') return undefined;
  const { problem } = delivery;
  const known = {
    id: receiverIdInRecordName(name),
    receiver: receiverHost(url),
    taskId,
    principal,
    problem,
  };
  return delivery.type === 'retrying'
    ? { ...known, state: 'retrying', since: timeText(delivery.since), nextAttempt: timeText(delivery.at) }
    : { ...known, state: 'dead', since: timeText(delivery.since ?? delivery.at), nextAttempt: null };
}

/** Returns the part of an address that a log or a list may show. */
export function receiverHost(url: string): string {
  return new URL(url).host;
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}

function bySince(one: FailingReceiver, other: FailingReceiver): number {
  return one.since.localeCompare(other.since) || one.id.localeCompare(other.id);
}
