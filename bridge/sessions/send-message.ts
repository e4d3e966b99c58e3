/**
 * Sends a message to an agent. It retries only if the message cannot have arrived, or if the agent de-duplicates by
 * message id (B1). Otherwise it searches for the message at the agent.
 */
import type { Message, StreamResponse, Task } from '@a2a-js/sdk';
import pRetry from 'p-retry';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Agent } from '../agents/agent.ts';
import type { A2aConnection } from '../agents/connection.ts';
import { requestFailure } from '../agents/failure.ts';
import { type BackOff, delayAfter, withFixedJitter } from '../../shared/runtime/back-off.ts';
import { findByMessage } from './find-lost-message.ts';
import type { Delivery } from './session-state.ts';

/** How the agent acknowledged the message: it began to answer, or a task contains the message. */
export type AcknowledgedMessage =
  | {
      type: 'stream';
      connection: A2aConnection;
      first: StreamResponse;
      /** The events after the first. */
      rest: AsyncIterator<StreamResponse>;
    }
  | { type: 'found'; connection: A2aConnection; task: Task };

interface SendOptions {
  agent: Agent;
  /** Makes the message; every call makes the same one. If it throws, nothing is sent. */
  write: (connection: A2aConnection) => Promise<Message>;
  backOff: BackOff;
  signal: AbortSignal;
  withdrawal?: Withdrawal | undefined;
  /** An earlier series of attempts may have delivered the message, so it cannot be withdrawn. */
  resumed?: boolean | undefined;
  onDelivery?: (delivery: Delivery) => void;
}

/** The cancel of delegated work while its message is on its way. */
export interface Withdrawal {
  /**
   * Aborts only if no attempt is under way and no earlier attempt can have arrived. Its reason is the error of the
   * delivery.
   */
  signal: AbortSignal;
  /** False after a cancel: the message is sent again only if an earlier attempt may have arrived. */
  wanted: () => boolean;
}

/** How often to retry. The bridge retries only briefly if it cannot even read the card. */
const AGAIN = { never: 0, briefly: 3, patiently: Infinity } as const;

/**
 * Whether a failed message has arrived. `unresolved`: unknown, but the bridge may safely send it again. `unknown`:
 * unknown, and the agent may do the work twice.
 */
type MessageArrival = 'no' | 'unresolved' | 'unknown';

/** @throws ProductError with the fact `arrived` (see `MessageArrival`) */
export async function sendUntilAcknowledged(sending: SendOptions): Promise<AcknowledgedMessage> {
  const { agent, signal, withdrawal, resumed = false, onDelivery = () => undefined } = sending;
  const backOff = withFixedJitter(sending.backOff);
  /** An earlier attempt may have arrived. A later attempt that cannot connect does not change that (R99). */
  let mayHaveArrived = false;
  let last: Undelivered | undefined;
  const tell = (nextTry: Date | null): void => {
    if (last === undefined) return;
    onDelivery({
      type: 'retrying',
      reason: last.message,
      nextTry,
      mayHaveArrived: mayHaveArrived || resumed,
    });
  };
  const attempt = async (): Promise<AcknowledgedMessage> => {
    tell(null);
    try {
      return await sendOnce(sending);
    } catch (thrown) {
      if (!(thrown instanceof Undelivered)) throw thrown;
      last = mayHaveArrived ? thrown.afterOneThatMayHaveArrived() : thrown;
      mayHaveArrived ||= last.arrived !== 'no';
      throw last;
    }
  };
  try {
    return await pRetry(attempt, {
      ...backOff,
      signal: withdrawal === undefined ? signal : AbortSignal.any([signal, withdrawal.signal]),
      shouldRetry({ error, attemptNumber, retriesConsumed }) {
        if (!(error instanceof Undelivered) || attemptNumber > AGAIN[error.again]) return false;
        if (error.arrived === 'no' && !resumed && withdrawal?.wanted() === false) return false;
        tell(new Date(Date.now() + delayAfter(retriesConsumed, backOff)));
        return true;
      },
    });
  } catch (thrown) {
    throw thrown instanceof Undelivered ? thrown.reason : agent.failed(thrown);
  }
}

async function sendOnce({ agent, write, signal }: SendOptions): Promise<AcknowledgedMessage> {
  const connection = await connected(agent);
  const message = await phrased(agent, write, connection);
  const rest = connection.send(message, signal)[Symbol.asyncIterator]();
  try {
    const first = await rest.next();
    if (first.done !== true) return { type: 'stream', connection, first: first.value, rest };
    throw new TypeError('the stream ended before it began');
  } catch (thrown) {
    return { type: 'found', connection, task: await lookedFor(agent, thrown, message, connection) };
  }
}

async function connected(agent: Agent): Promise<A2aConnection> {
  try {
    return await agent.connect();
  } catch (error) {
    // The bridge could not read the card, so it has not sent the message.
    const reason = agent.failed(error);
    throw new Undelivered(reason, 'no', reason.retryable ? 'briefly' : 'never');
  }
}

/** A message that the dialect cannot express fails here, before anything is sent. */
async function phrased(
  agent: Agent,
  write: SendOptions['write'],
  connection: A2aConnection,
): Promise<Message> {
  try {
    return await write(connection);
  } catch (error) {
    throw new Undelivered(agent.failed(error), 'no', 'never');
  }
}

/** Called when no answer came. @returns the message's task, if the bridge must search for it and finds it */
async function lookedFor(
  agent: Agent,
  thrown: unknown,
  message: Message,
  connection: A2aConnection,
): Promise<Task> {
  const { arrival } = requestFailure(thrown, agent.name);
  const reason = agent.failed(thrown);
  if (arrival === 'no') throw new Undelivered(reason, 'no', 'patiently');
  if (arrival === 'refused') {
    throw new Undelivered(reason, 'no', reason.retryable && connection.deduplicates ? 'patiently' : 'never');
  }
  if (connection.deduplicates) throw new Undelivered(reason, 'unresolved', 'patiently');
  const found = await findByMessage(connection, message).catch(() => undefined);
  if (found !== undefined) return found;
  const sentence = `${reason.message} Whether the message arrived is not known, and agent "${agent.name}" may do it twice if it is sent again: look at the agent before you repeat it.`;
  throw new Undelivered(new ProductError(reason.reason, sentence, { cause: thrown }), 'unknown', 'never');
}

/** A send that failed, with what the bridge knows of it. */
class Undelivered extends Error {
  readonly reason: ProductError;
  readonly arrived: MessageArrival;
  readonly again: keyof typeof AGAIN;

  constructor(
    { reason, message, facts, cause }: ProductError,
    arrived: MessageArrival,
    again: keyof typeof AGAIN,
  ) {
    super(message);
    this.reason = new ProductError(reason, message, { facts: { ...facts, arrived }, cause });
    this.arrived = arrived;
    this.again = again;
  }

  /**
   * The same failure, but after an earlier attempt that may have arrived. An agent that cannot be found may be
   * restarting.
   */
  afterOneThatMayHaveArrived(): Undelivered {
    return new Undelivered(this.reason, 'unresolved', this.again === 'briefly' ? 'patiently' : this.again);
  }
}
