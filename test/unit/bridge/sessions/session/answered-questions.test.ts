/** Tests that the answer to a question in plain text is sent once, because its agent cannot detect a second answer. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { taskAsStreamResponse } from '../../../../../bridge/agents/task-as-stream-response.ts';
import { sendDecisions } from '../../../../../bridge/approvals/send-decisions.ts';
import { unconfirmedDecisionNote } from '../../../../../bridge/approvals/sent-in-time.ts';
import type { PersonDecision } from '../../../../../bridge/dialects/dialect.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import type { Session } from '../../../../../bridge/sessions/session/session.ts';
import { AskingAgent } from '../../../../support/asking-agent.ts';
import { signal } from '../../../../support/signal.ts';

describe('the answer to a question in plain text', () => {
  let agent: AskingAgent;
  let session: Session;

  beforeEach(() => {
    agent = new AskingAgent();
    session = agent.session();
  });
  afterEach(() => session.close());

  function answer(words: string): PersonDecision {
    const { question } = session.pendingInput;
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
    const { respond } = agent;
    agent.respond = () => {
      throw new ProductError('AGENT_ERROR', 'The agent refused.');
    };
    agent.begins.happen();
    await expect(sendDecisions(session, [answer('Yes')], 'tool')).rejects.toThrow('refused');
    agent.respond = respond;
    await sendDecisions(session, [answer('Yes')], 'tool');
    expect(agent.received).toHaveLength(2);
  });

  test('R28 the note about an unconfirmed answer says why the last attempt to send it failed', async () => {
    const [retried, ends] = [signal(), signal()];
    const { respond } = agent;
    agent.respond = () => {
      agent.respond = async function* () {
        retried.happen();
        await ends.happened;
        yield* respond();
      };
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' });
    };
    agent.begins.happen();
    const sent = sendDecisions(session, [answer('Yes')], 'tool');
    expect(unconfirmedDecisionNote(session)).not.toContain('failed');
    await retried.happened;
    expect(unconfirmedDecisionNote(session)).toContain(
      'not confirmed this decision yet. The last attempt failed: Agent "asking" cannot be reached',
    );
    ends.happen();
    await sent;
    expect(session.sendingProblem).toBeUndefined();
  });

  test('while the agent has not reacted to the answer, the session works and asks nothing, even if the agent repeats the question', async () => {
    const ends = signal();
    agent.respond = async function* () {
      yield taskAsStreamResponse(agent.task.toTask());
      await ends.happened;
    };
    const sent = sendDecisions(session, [answer('Yes')], 'tool');
    await agent.arrived.happened;
    expect(session).toMatchObject({ stateName: 'working', pendingInput: { question: null } });
    agent.begins.happen();
    await sent;
    expect(session).toMatchObject({ stateName: 'working', view: { question: null, text: '' } });
    expect(session.lastPendingInput.question).not.toBeNull();
    ends.happen();
  });

  test('D1 while an answer is on its way, the end of another stream does not make the question open again', async () => {
    const sent = sendDecisions(session, [answer('Yes')], 'tool');
    await agent.arrived.happened;
    const ends = signal();
    agent.follow = () => Promise.resolve(ends.happen());
    await session.refresh();
    await ends.happened;
    await nextTurn();
    expect(session).toMatchObject({ stateName: 'working', settled: false });
    agent.begins.happen();
    await sent;
  });

  test('D2 an answer is not sent if another client has answered the question, and the agent asks the next one', async () => {
    const late = answer('Yes');
    agent.task.work().ask();
    await expect(sendDecisions(session, [late], 'elicitation')).rejects.toMatchObject({
      reason: 'UNKNOWN_CALL',
    });
    expect(agent.received).toEqual([]);
  });

  test('D1 an agent without streams may repeat the question in its response, and the bridge does not ask again', async () => {
    agent.connection.facts.streaming = false;
    agent.respond = () => [taskAsStreamResponse(agent.task.toTask())];
    agent.begins.happen();
    await sendDecisions(session, [answer('Yes')], 'tool');
    await nextTurn();
    expect(session).toMatchObject({ stateName: 'working', hasStream: true, settled: false });
  });

  test('D2 an answer is not sent if the agent has asked something else before the message leaves', async () => {
    const late = answer('Yes');
    agent.reach = async () => {
      session.applyEvent(taskAsStreamResponse(agent.task.work().ask().toTask()), agent.connection);
    };
    await expect(sendDecisions(session, [late], 'elicitation')).rejects.toMatchObject({
      reason: 'UNKNOWN_CALL',
    });
    expect(agent.received).toEqual([]);
    expect(session.pendingInput.question?.shown).not.toBe(late.type === 'answer' && late.shown);
  });

  test('J3 a task that the bridge requested before the answer does not replace the events after it', async () => {
    const waiting = agent.task.toTask();
    const arrives = signal();
    const { fetch } = agent;
    agent.fetch = async () => {
      agent.fetch = fetch;
      await arrives.happened;
      return waiting;
    };
    const looking = session.refresh();
    agent.respond = () => [taskAsStreamResponse(agent.task.complete().toTask())];
    agent.begins.happen();
    await sendDecisions(session, [answer('Yes')], 'tool');
    arrives.happen();
    await looking;
    expect(session).toMatchObject({ stateName: 'completed', pendingInput: { question: null } });
  });
});
