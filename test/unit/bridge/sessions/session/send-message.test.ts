import { describe, expect, test } from '@jest/globals';
import type { Message, StreamResponse } from '@a2a-js/sdk';
import { Agent } from '../../../../../bridge/agents/agent.ts';
import type { A2aConnection } from '../../../../../bridge/agents/connection.ts';
import { buildUserMessage } from '../../../../../bridge/sessions/delegation-message.ts';
import { sendUntilAcknowledged } from '../../../../../bridge/sessions/session/send-message.ts';
import type { MessageDeliveryState } from '../../../../../bridge/sessions/session/session-state.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { quietConnection } from '../../../../support/quiet-connection.ts';

const BACK_OFF = { retries: 6, minTimeout: 1, maxTimeout: 1, factor: 1, randomize: false };

const message: Message = buildUserMessage(
  { parts: [], metadata: undefined },
  { messageId: 'm', sessionId: null, taskId: null },
);

const refused = (): Error =>
  new TypeError('fetch failed', {
    cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' }),
  });

/** An agent that accepts the message and exits before it answers. Afterwards its address refuses connections. */
class DyingAgent extends Agent {
  sent = 0;
  connects = 0;
  readonly #deduplicates: boolean;

  constructor(deduplicates: boolean) {
    super('dying', () => Promise.reject(refused()));
    this.#deduplicates = deduplicates;
  }

  override connect(): Promise<A2aConnection> {
    this.connects += 1;
    return this.connects === 1 ? Promise.resolve(this.#connection()) : super.connect();
  }

  #connection(): A2aConnection {
    return quietConnection({
      deduplicates: this.#deduplicates,
      send: () => this.#broken(),
      follow: () => Promise.resolve(),
      task: () => Promise.reject(refused()),
      cancel: () => Promise.reject(refused()),
      list: () => Promise.reject(refused()),
    });
  }

  async *#broken(): AsyncIterable<StreamResponse> {
    this.sent += 1;
    yield await Promise.reject<StreamResponse>(new TypeError('terminated'));
  }
}

const sendTo = (agent: Agent, onDelivery?: (delivery: MessageDeliveryState) => void): Promise<unknown> =>
  sendUntilAcknowledged({
    ...(onDelivery && { onDelivery }),
    agent,
    write: () => Promise.resolve(message),
    backOff: BACK_OFF,
    signal: new AbortController().signal,
  });

/** An agent that refuses the first message because one of its limits is reached. */
class BusyAgent extends Agent {
  readonly attempts: number[] = [];

  constructor() {
    super('busy', () => Promise.reject(refused()));
  }

  override connect(): Promise<A2aConnection> {
    return Promise.resolve(
      quietConnection({
        deduplicates: true,
        send: () => this.#answer(),
        follow: () => Promise.resolve(),
        task: () => Promise.reject(refused()),
        cancel: () => Promise.reject(refused()),
        list: () => Promise.reject(refused()),
      }),
    );
  }

  async *#answer(): AsyncIterable<StreamResponse> {
    this.attempts.push(performance.now());
    if (this.attempts.length === 1)
      yield await Promise.reject<StreamResponse>(
        new ProductError('LIMIT_REACHED', 'You have 2 open event streams.', { facts: { retryAfter: '1' } }),
      );
    yield { payload: undefined };
  }
}

test('a message that a limit has refused is sent again after the time that the server named', async () => {
  const agent = new BusyAgent();
  const told: MessageDeliveryState[] = [];
  const before = Date.now();
  await sendTo(agent, (delivery) => told.push(delivery));
  const [first = 0, second = 0] = agent.attempts;
  expect(second - first).toBeGreaterThanOrEqual(990);
  const [waiting] = told.flatMap((each) => (each.type === 'retrying' ? [each] : []));
  expect(waiting).toMatchObject({ reason: 'You have 2 open event streams.', mayHaveArrived: false });
  expect(Number(waiting?.nextTry) - before).toBeGreaterThanOrEqual(1000);
});

describe('a message whose agent exits before it answers', () => {
  test('R99 B1 the message may have arrived, even if later attempts cannot connect, and the bridge tries again up to the limit', async () => {
    const agent = new DyingAgent(true);
    await expect(sendTo(agent)).rejects.toMatchObject({ facts: { arrived: 'unresolved' } });
    expect(agent.connects).toBe(BACK_OFF.retries + 1);
    expect(agent.sent).toBe(1);
  });

  test('B1 the bridge does not send the message again to an agent that may process it twice', async () => {
    const agent = new DyingAgent(false);
    await expect(sendTo(agent)).rejects.toMatchObject({ facts: { arrived: 'unknown' } });
    expect(agent.sent).toBe(1);
  });
});
