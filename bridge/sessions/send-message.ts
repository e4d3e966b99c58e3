/**
 * Sending a message to an agent, once or more: again only where that is safe, because it cannot have arrived or because
 * the agent answers a repeated message id with the same task (B1). Elsewhere the message is looked for.
 */
import type { Message, StreamResponse, Task } from '@a2a-js/sdk';
import pRetry from 'p-retry';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Agent } from '../agents/agent.ts';
import type { Connection } from '../agents/connection.ts';
import { failureOf } from '../agents/failure.ts';
import type { BackOff } from './back-off.ts';
import { findByMessage } from './find-lost-message.ts';

/** How the agent was heard to have the message: it began to answer, or the task was found with it. */
export type Begun =
  | {
      type: 'stream';
      connection: Connection;
      first: StreamResponse;
      /** What follows the first event. */
      rest: AsyncIterator<StreamResponse>;
    }
  | { type: 'found'; connection: Connection; task: Task };

export interface Sending {
  agent: Agent;
  /** Makes the message; the same one each time. What it throws is why nothing may be sent. */
  write: (connection: Connection) => Promise<Message>;
  backOff: BackOff;
  signal: AbortSignal;
}

/** How often a message is sent again: an agent that does not even show its card is given a moment only. */
const AGAIN = { never: 0, briefly: 3, patiently: Infinity } as const;

/**
 * Whether a message that came to nothing has arrived. `unresolved`: nobody knows, and the same message may be sent again to
 * find out. `unknown`: nobody knows, and the agent may do the work twice.
 */
export type Arrived = 'no' | 'unresolved' | 'unknown';

/** @throws ProductError with the fact `arrived` (see `Arrived`) */
export async function send({ agent, write, backOff, signal }: Sending): Promise<Begun> {
  /** An earlier attempt may have arrived: that the next one cannot even connect does not change that (R99). */
  let mayHaveArrived = false;
  const attempt = async (): Promise<Begun> => {
    try {
      return await sendOnce(agent, write, signal);
    } catch (thrown) {
      if (!(thrown instanceof Undelivered)) throw thrown;
      const failure = mayHaveArrived ? thrown.afterOneThatMayHaveArrived() : thrown;
      mayHaveArrived ||= failure.arrived !== 'no';
      throw failure;
    }
  };
  try {
    return await pRetry(attempt, {
      ...backOff,
      signal,
      shouldRetry: ({ error, attemptNumber }) =>
        error instanceof Undelivered && attemptNumber <= AGAIN[error.again],
    });
  } catch (thrown) {
    throw thrown instanceof Undelivered ? thrown.reason : agent.failed(thrown);
  }
}

async function sendOnce(agent: Agent, write: Sending['write'], signal: AbortSignal): Promise<Begun> {
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

async function connected(agent: Agent): Promise<Connection> {
  try {
    return await agent.connect();
  } catch (error) {
    // The card was not even read, so the message has not left.
    const reason = agent.failed(error);
    throw new Undelivered(reason, 'no', reason.retryable ? 'briefly' : 'never');
  }
}

/** What the dialect has no words for is refused here, before anything is sent. */
async function phrased(agent: Agent, write: Sending['write'], connection: Connection): Promise<Message> {
  try {
    return await write(connection);
  } catch (error) {
    throw new Undelivered(agent.failed(error), 'no', 'never');
  }
}

/** Nothing came back. @returns the task that the message was made into, where it has to be looked for and is found */
async function lookedFor(
  agent: Agent,
  thrown: unknown,
  message: Message,
  connection: Connection,
): Promise<Task> {
  const { arrival } = failureOf(thrown, agent.name);
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

/** A sending that came to nothing, as far as anybody knows. */
class Undelivered extends Error {
  readonly reason: ProductError;
  readonly arrived: Arrived;
  readonly again: keyof typeof AGAIN;

  constructor({ reason, message, facts, cause }: ProductError, arrived: Arrived, again: keyof typeof AGAIN) {
    super(message);
    this.reason = new ProductError(reason, message, { facts: { ...facts, arrived }, cause });
    this.arrived = arrived;
    this.again = again;
  }

  /** The same failure of a later attempt. An agent that cannot be found may just be starting again. */
  afterOneThatMayHaveArrived(): Undelivered {
    return new Undelivered(this.reason, 'unresolved', this.again === 'briefly' ? 'patiently' : this.again);
  }
}
