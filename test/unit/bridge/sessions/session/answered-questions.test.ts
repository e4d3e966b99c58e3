/** Tests that the answer to a question in plain text is sent once, because its agent cannot detect a second answer. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Message, StreamResponse } from '@a2a-js/sdk';
import { Agent } from '../../../../../bridge/agents/agent.ts';
import type { A2aConnection } from '../../../../../bridge/agents/connection.ts';
import { sendDecisions } from '../../../../../bridge/approvals/send-decisions.ts';
import { plainDialect } from '../../../../../bridge/dialects/plain-a2a.ts';
import type { PersonDecision } from '../../../../../bridge/dialects/dialect.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { Session } from '../../../../../bridge/sessions/session/session.ts';
import { asStreamResponse } from '../../../../../bridge/agents/task-as-stream-response.ts';
import { FakeTask } from '../../../../support/fake-agent-task.ts';
import { quietConnection } from '../../../../support/quiet-connection.ts';
import { signal } from '../../../../support/signal.ts';

/** An agent without extensions, in memory. It asks a question, and begins its response when the test says so. */
class AskingAgent extends Agent {
  readonly task = new FakeTask('task-1', 'session-1', false).work().ask();
  readonly received: Message[] = [];
  readonly begins = signal();
  /** If true, the agent refuses each message. */
  refuses = false;
  readonly connection: A2aConnection = quietConnection({
    dialect: plainDialect,
    deduplicates: false,
    staysOpen: false,
    send: (message) => this.#answer(message),
    follow: ({ signal: end }) => new Promise((resolve) => end.addEventListener('abort', () => resolve())),
    task: () => Promise.resolve(this.task.toTask()),
    cancel: () => Promise.reject(new Error('nobody cancels')),
    list: () => Promise.resolve({ tasks: [], total: 0 }),
  });

  constructor() {
    super('asking', () => Promise.reject(new Error('nobody is asked where it is')));
  }

  override connect(): Promise<A2aConnection> {
    return Promise.resolve(this.connection);
  }

  async *#answer(message: Message): AsyncIterable<StreamResponse> {
    this.received.push(message);
    await this.begins.happened;
    if (this.refuses) throw new ProductError('AGENT_ERROR', 'The agent refused.');
    yield asStreamResponse(this.task.work().toTask());
  }
}

describe('the answer to a question in plain text', () => {
  let agent: AskingAgent;
  let session: Session;

  beforeEach(() => {
    agent = new AskingAgent();
    const claims = { take: () => Promise.resolve(undefined), release: () => undefined };
    session = new Session(agent, 'session-1', { claims });
    session.take(asStreamResponse(agent.task.toTask()), agent.connection);
  });
  afterEach(() => session.close());

  function answer(words: string): PersonDecision {
    const { question } = session.asked;
    if (question === null) throw new Error('the agent asks nothing');
    return { type: 'answer', callId: question.id, shown: question.shown, answer: words };
  }

  test('D1 a second answer is refused while the first one is on its way, and is not sent', async () => {
    const second = answer('No');
    const first = sendDecisions(session, [answer('Yes')], 'tool');
    const late = sendDecisions(session, [second], 'elicitation');
    await expect(late).rejects.toMatchObject({ reason: 'ALREADY_DECIDED' });
    agent.begins.happen();
    await first;
    await expect(sendDecisions(session, [second], 'webhook')).rejects.toMatchObject({
      name: 'ProductError',
    });
    expect(agent.received).toHaveLength(1);
  });

  test('if the agent refuses the answer, the person can answer again', async () => {
    agent.refuses = true;
    agent.begins.happen();
    await expect(sendDecisions(session, [answer('Yes')], 'tool')).rejects.toThrow('refused');
    agent.refuses = false;
    await sendDecisions(session, [answer('Yes')], 'tool');
    expect(agent.received).toHaveLength(2);
  });
});
