import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { plainAgent, type PlainAgent } from '../../support/fake-agent-plain.ts';
import { DECIDE, DELEGATE, LIST, WAIT, program, stateDirectory } from './support/bridge-stage.ts';
import { RawClient, textOf, refusalOf, sessionOf } from './support/raw-client.ts';

describe.each(['1.0', '0.3'] as const)(
  'an agent that uses the SDK’s own server, A2A %s, without extensions',
  (version) => {
    let agent: PlainAgent;
    let client: RawClient;
    let stateDir: string;

    beforeAll(async () => {
      agent = await plainAgent(version);
      stateDir = await stateDirectory();
      client = await RawClient.start(program, { stateDir, agentUrl: agent.url });
    });
    afterAll(async () => {
      await client.kill();
      await agent.stop();
    });

    test('R69 a question reaches the person, and the answer reaches the agent as text', async () => {
      const asked = await client.call(DELEGATE, { task: 'Greet me', autoExecute: true });
      expect(asked.structuredContent).toMatchObject({
        state: 'input_required',
        pending: [],
        question: { text: 'What is your name?' },
      });
      expect(textOf(asked)).toContain('decision "answer"');
      expect(textOf(asked)).toContain('it was not told: autoExecute');
      const sessionId = sessionOf(asked);
      const [, callId, shown] = /callId "([^"]+)", shown "([^"]+)"/.exec(textOf(asked)) ?? [];
      const answered = await client.call(DECIDE, {
        sessionId,
        callId,
        shown,
        decision: 'answer',
        answer: 'Ada',
      });
      expect(answered.structuredContent).toMatchObject({ state: 'completed', output: 'Hello, Ada!' });
      expect(agent.received).toEqual(['Greet me', 'Ada']);
    });

    test('R69 D1 an approval is not accepted as the answer to a question: the bridge refuses it, explains how to answer, and sends nothing', async () => {
      const received = agent.received.length;
      const asked = await client.call(DELEGATE, { task: 'Greet me too' });
      const sessionId = sessionOf(asked);
      const refused = await client.call(DECIDE, {
        sessionId,
        callId: 'x',
        shown: 'x',
        decision: 'approve',
      });
      expect(refusalOf(refused)).toContain('Use the decision "answer"');
      expect(agent.received).toHaveLength(received + 1);
      const waits = await client.call(WAIT, { sessionId });
      expect(waits.structuredContent).toMatchObject({ state: 'input_required' });
    });

    test('D2 a message to the session is not accepted as the answer to its question: the refusal contains the question’s code', async () => {
      const asked = await client.call(DELEGATE, { task: 'Greet me at last' });
      const received = agent.received.length;
      const { sessionId, question } = asked.structuredContent ?? {};
      const refused = await client.call(DELEGATE, { task: 'Bob', sessionId });
      expect(refusalOf(refused)).toContain('│ What is your name?');
      expect(textOf(refused)).toMatch(/approve_or_deny_pending_action with sessionId .* decision "answer"/);
      expect(agent.received).toHaveLength(received);
      const { callId, shown } = Object(question);
      const answer = { sessionId, callId, shown, decision: 'answer', answer: 'Eve' };
      const answered = await client.call(DECIDE, answer);
      expect(answered.structuredContent).toMatchObject({ state: 'completed', output: 'Hello, Eve!' });
    });

    test('B3 after a kill of the bridge, the next bridge finds the waiting session by its id and sends the answer', async () => {
      const asked = await client.call(DELEGATE, { task: 'Greet me later' });
      const sessionId = sessionOf(asked);
      await client.kill();
      client = await RawClient.start(program, { stateDir, agentUrl: agent.url });
      const listed = await client.call(LIST, {});
      expect(textOf(listed)).toContain(sessionId);
      const shows = await client.call(WAIT, { sessionId });
      const [, callId, shown] = /callId "([^"]+)", shown "([^"]+)"/.exec(textOf(shows)) ?? [];
      const answered = await client.call(DECIDE, {
        sessionId,
        callId,
        shown,
        decision: 'answer',
        answer: 'Grace',
      });
      expect(answered.structuredContent).toMatchObject({
        sessionId,
        state: 'completed',
        output: 'Hello, Grace!',
      });
    });
  },
);
