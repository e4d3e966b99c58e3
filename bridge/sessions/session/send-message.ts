/**
 * Sends a message to an agent. B1: a delegation happens exactly once. So a message is sent again only if it cannot have
 * arrived, or if the agent recognizes a repeated message id. Otherwise the agent's tasks are searched for the message.
 */
import type { Message, StreamResponse, Task } from '@a2a-js/sdk';
import pRetry from 'p-retry';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Agent } from '../../agents/agent.ts';
import type { A2aConnection } from '../../agents/connection.ts';
import { requestFailure } from '../../agents/request-failure.ts';
import { type BackOffOptions, backOffDelay, withJitterChosenOnce } from '../../../shared/runtime/back-off.ts';
import { requestedRetryDelayMs, waitForRetryAfter } from '../../../shared/runtime/retry-after.ts';
import { findTaskByMessage } from './find-lost-message.ts';
import type { MessageDeliveryState } from './session-state.ts';

/** How the agent has acknowledged a message: it has begun a response, or one of its tasks contains the message. */
export type AcknowledgedMessage =
  | {
      type: 'stream';
      connection: A2aConnection;
      first: StreamResponse;
      /** The events of the response after the first one. */
      rest: AsyncIterator<StreamResponse>;
    }
  | { type: 'found'; connection: A2aConnection; task: Task };

interface SendOptions {
  agent: Agent;
  /** Builds the message. Every call must return the same message. If it throws, nothing is sent. */
  write: (connection: A2aConnection) => Promise<Message>;
  backOff: BackOffOptions;
  signal: AbortSignal;
  withdrawal?: DeliveryWithdrawal | undefined;
  /** True if an earlier series of attempts may have delivered the message. The message then cannot be withdrawn. */
  resumed?: boolean | undefined;
  onDelivery?: (delivery: MessageDeliveryState) => void;
}

/** Cancels the delivery of a message that the agent has not acknowledged. */
export interface DeliveryWithdrawal {
  /**
   * Aborts only if no attempt is running and no attempt can have arrived. The abort reason becomes the error of the
   * delivery.
   */
  signal: AbortSignal;
  /**
   * Returns false after a cancel. A message that cannot have arrived is then not sent again. A message that may have
   * arrived is still sent again, because the bridge needs the task id from the response to cancel the task.
   */
  wanted: () => boolean;
}

/** The maximum number of retries. `briefly` applies if not even the card can be read. */
const MAX_RETRIES = { never: 0, briefly: 3, patiently: Infinity } as const;

/**
 * What the bridge knows about a failed message. `no`: it has not arrived. `unresolved`: it may have arrived, but it is
 * safe to send it again. `unknown`: it may have arrived, and a second copy could start the work twice.
 */
type MessageArrival = 'no' | 'unresolved' | 'unknown';

/**
 * Sends the message until the agent acknowledges it.
 * @throws ProductError with the fact `arrived` (see `MessageArrival`)
 */
export async function sendUntilAcknowledged(sending: SendOptions): Promise<AcknowledgedMessage> {
  const { agent, signal, withdrawal, resumed = false, onDelivery = () => undefined } = sending;
  const backOff = withJitterChosenOnce(sending.backOff);
  /**
   * True after an attempt that may have arrived. It stays true even if a later attempt cannot connect. R99: a repeated
   * tool call starts no second task.
   */
  let mayHaveArrived = false;
  let last: UndeliveredError | undefined;
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
      if (!(thrown instanceof UndeliveredError)) throw thrown;
      last = mayHaveArrived ? thrown.asPossiblyArrived() : thrown;
      mayHaveArrived ||= last.arrived !== 'no';
      throw last;
    }
  };
  const stop = withdrawal === undefined ? signal : AbortSignal.any([signal, withdrawal.signal]);
  try {
    return await pRetry(attempt, {
      ...backOff,
      signal: stop,
      async shouldRetry({ error, attemptNumber, retriesConsumed }) {
        if (!(error instanceof UndeliveredError) || attemptNumber > MAX_RETRIES[error.again]) return false;
        if (error.arrived === 'no' && !resumed && withdrawal?.wanted() === false) return false;
        const delay = backOffDelay(retriesConsumed, backOff);
        tell(new Date(Date.now() + Math.max(delay, requestedRetryDelayMs(error.reason))));
        await waitForRetryAfter(error.reason, delay, stop);
        return true;
      },
    });
  } catch (thrown) {
    throw thrown instanceof UndeliveredError ? thrown.reason : agent.failed(thrown);
  }
}

async function sendOnce({ agent, write, signal }: SendOptions): Promise<AcknowledgedMessage> {
  const connection = await agent.connect().catch((error: unknown) => {
    // The card could not be read, so the message was not sent.
    const reason = agent.failed(error);
    throw new UndeliveredError(reason, 'no', reason.retryable ? 'briefly' : 'never');
  });
  const message = await write(connection).catch((error: unknown) => {
    // The dialect cannot express the message, or a check has refused it. So nothing was sent.
    throw new UndeliveredError(agent.failed(error), 'no', 'never');
  });
  const rest = connection.send(message, signal)[Symbol.asyncIterator]();
  try {
    const first = await rest.next();
    if (first.done !== true) return { type: 'stream', connection, first: first.value, rest };
    throw new TypeError('the stream ended before its first event');
  } catch (thrown) {
    return {
      type: 'found',
      connection,
      task: await taskAfterLostResponse(thrown, message, { agent, connection }),
    };
  }
}

/**
 * Handles a missing response. If sending again is not safe, searches the agent's tasks for the message, and returns the
 * task. Otherwise throws.
 */
async function taskAfterLostResponse(
  thrown: unknown,
  message: Message,
  { agent, connection }: { agent: Agent; connection: A2aConnection },
): Promise<Task> {
  const { arrival } = requestFailure(thrown, agent.name);
  const reason = agent.failed(thrown);
  if (arrival === 'no') throw new UndeliveredError(reason, 'no', 'patiently');
  if (arrival === 'refused') {
    throw new UndeliveredError(
      reason,
      'no',
      reason.retryable && connection.deduplicates ? 'patiently' : 'never',
    );
  }
  if (connection.deduplicates) throw new UndeliveredError(reason, 'unresolved', 'patiently');
  const found = await findTaskByMessage(connection, message).catch(() => undefined);
  if (found !== undefined) return found;
  const sentence = `${reason.message} Whether the message arrived is not known, and agent "${agent.name}" may do it twice if it is sent again: look at the agent before you repeat it.`;
  // `thrown` may contain a secret. The cause in `reason` does not.
  throw new UndeliveredError(
    new ProductError(reason.reason, sentence, { cause: reason.cause }),
    'unknown',
    'never',
  );
}

/** Thrown if one attempt failed. Says whether the message can have arrived. */
class UndeliveredError extends Error {
  readonly reason: ProductError;
  readonly arrived: MessageArrival;
  readonly again: keyof typeof MAX_RETRIES;

  constructor(
    { reason, message, facts, cause }: ProductError,
    arrived: MessageArrival,
    again: keyof typeof MAX_RETRIES,
  ) {
    super(message);
    this.reason = new ProductError(reason, message, { facts: { ...facts, arrived }, cause });
    this.arrived = arrived;
    this.again = again;
  }

  /**
   * Returns this failure for a message whose earlier attempt may have arrived. The bridge then retries without a limit,
   * because an unreachable agent may be restarting.
   */
  asPossiblyArrived(): UndeliveredError {
    return new UndeliveredError(
      this.reason,
      'unresolved',
      this.again === 'briefly' ? 'patiently' : this.again,
    );
  }
}
