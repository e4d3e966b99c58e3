/** Tests the bridge with an agent that asks questions in text, requires a sign-in, and answers without a task. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { resolve } from 'node:path';
import { stage, type Stage } from '../../support/stage.ts';
import { DECIDE, DELEGATE, startClient } from './support/bridge-stage.ts';
import { type RawClient, textOf, sessionOf } from './support/raw-client.ts';

describe('our server with a scripted agent', () => {
  let at: Stage;
  let client: RawClient;

  beforeEach(async () => {
    at = await stage({ args: ['--agent', 'scripted', resolve('examples/scripted-agent.json')] });
    client = await startClient(at.server);
  });

  test('R69 the agent’s questions reach the person as text, and the result of a sign-in request contains the next step', async () => {
    const asked = await client.call(DELEGATE, { task: 'book a table' });
    expect(asked.structuredContent).toMatchObject({
      state: 'input_required',
      pending: [],
      question: { text: 'For which day?' },
    });
    const sessionId = sessionOf(asked);
    const [, callId, shown] = /callId "([^"]+)", shown "([^"]+)"/.exec(textOf(asked)) ?? [];
    const signIn = await client.call(DECIDE, {
      sessionId,
      callId,
      shown,
      decision: 'answer',
      answer: 'Monday',
    });
    expect(textOf(signIn)).toContain('https://example.com/sign-in');
    const [, signInId, signInCode] = /callId "([^"]+)", shown "([^"]+)"/.exec(textOf(signIn)) ?? [];
    const done = await client.call(DECIDE, {
      sessionId,
      callId: signInId,
      shown: signInCode,
      decision: 'answer',
      answer: 'I have signed in.',
    });
    expect(done.structuredContent).toMatchObject({ sessionId, state: 'completed' });
    expect(textOf(done)).toContain('It is booked.');
  });

  test('the result contains the agent’s files and data', async () => {
    const done = await client.call(DELEGATE, { task: 'the report' });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    for (const given of [
      'Here is the report.',
      '# Report\nAll is well.',
      '"turnover"',
      'table.csv',
      'chart.png',
    ])
      expect(textOf(done)).toContain(given);
  });
});
