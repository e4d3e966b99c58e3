import { describe, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { FakeAgent, type FakeAgentOptions } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { hostileAgent } from '../../support/fake-agent-hostile.ts';
import {
  CANCEL,
  CHECK,
  DELEGATE,
  LIST,
  WAIT,
  closeAfterTest,
  startAgent,
  startClient,
} from './support/bridge-stage.ts';
import { type RawClient, textOf, sessionOf } from './support/raw-client.ts';

const NEXT_TRY = /The next try is at \d{4}-\d\d-\d\dT|Another try is under way/;

async function fake(options: FakeAgentOptions): Promise<{ agent: FakeAgent; client: RawClient }> {
  const agent = await startAgent(options);
  return { agent, client: await startClient(agent) };
}

/** Starts an agent whose card names an address without a listener. */
async function refusing(): Promise<{ client: RawClient; port: number }> {
  const gone = await FakeAgent.start();
  const { port, url } = gone;
  await gone.stop();
  const agent = await hostileAgent(() => undefined, { endpoint: url });
  closeAfterTest(() => agent.stop());
  return { client: await startClient(agent), port };
}

async function behind(answer: RequestListener, streaming = true): Promise<RawClient> {
  const agent = await hostileAgent(answer, { streaming });
  closeAfterTest(() => agent.stop());
  return startClient(agent);
}

/** Checks every result of a bridge whose agent accepts messages and never responds. */
async function expectNotDelivered(streaming: boolean): Promise<void> {
  const client = await behind((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => /Send(Streaming)?Message/.test(body) || response.writeHead(404).end());
  }, streaming);
  const delegated = await client.call(DELEGATE, { task: 'try', waitSeconds: 0 });
  expect(delegated).toMatchObject({
    isError: true,
    structuredContent: { state: 'not_delivered' },
  });
  expect(textOf(delegated)).toContain('It is not delivered yet');
  const sessionId = sessionOf(delegated);
  const checked = await client.call(CHECK, { sessionId });
  expect(checked.structuredContent).toMatchObject({ state: 'not_delivered', phase: 'not delivered yet' });
  const listed = await client.call(LIST, {});
  expect(listed.structuredContent).toMatchObject({
    sessions: [{ sessionId, state: 'not_delivered', title: 'try' }],
  });
  const waited = await client.call(WAIT, { sessionId, waitSeconds: 0 });
  expect(waited).toMatchObject({ isError: true, structuredContent: { state: 'not_delivered' } });
  const cancelled = await client.call(CANCEL, { sessionId });
  expect(cancelled.structuredContent).toMatchObject({ state: 'not_delivered' });
  expect(textOf(cancelled)).toContain('cancels the task as soon as the agent confirms it');
  expect(textOf(cancelled)).not.toContain('had ended');
}

describe('a task that its agent does not have', () => {
  // Both bridges wait for the same time limits of the bridge, so they run in parallel.
  test('R100 with an endpoint that never responds, with or without streams, every result says "not delivered", and a cancel does not say that the task had ended', async () => {
    await Promise.all([true, false].map(expectNotDelivered));
  });

  test('R100 the bridge polls an agent without streams until the task has ended', async () => {
    const { agent, client } = await fake({
      streaming: false,
      extensions: [],
      onMessage: (task) => task.work(),
    });
    const delegated = await client.call(DELEGATE, { task: 'try', waitSeconds: 0 });
    expect(delegated).toMatchObject({ structuredContent: { state: 'working' } });
    expect(delegated.isError).not.toBe(true);
    expect(agent.requests.find(({ method }) => method === 'SendMessage')?.params).toMatchObject({
      configuration: { returnImmediately: true },
    });
    const waiting = client.call(WAIT, { sessionId: sessionOf(delegated), waitSeconds: 60 });
    await agent.asked('GetTask', 2);
    agent.task.say('done').complete();
    expect((await waiting).structuredContent).toMatchObject({ state: 'completed', output: 'done' });
    expect(agent.count('SendMessage')).toBe(1);
  });

  test('R100 if an endpoint refuses connections, every result contains the time of the next attempt, and a cancel drops the message', async () => {
    const { client, port } = await refusing();
    const delegated = await client.call(DELEGATE, { task: 'try', waitSeconds: 0 });
    expect(delegated).toMatchObject({
      isError: true,
      structuredContent: { state: 'not_delivered' },
    });
    expect(textOf(delegated)).toMatch(
      /cannot be reached at \S+ \(ECONNREFUSED\), the address on its agent card/,
    );
    expect(textOf(delegated)).toMatch(NEXT_TRY);
    const sessionId = sessionOf(delegated);
    const checked = await client.call(CHECK, { sessionId });
    expect(checked.structuredContent).toMatchObject({
      state: 'not_delivered',
      message: expect.stringMatching(NEXT_TRY),
    });
    const listed = await client.call(LIST, { state: 'not_delivered' });
    expect(listed.structuredContent).toMatchObject({ sessions: [{ sessionId, title: 'try' }] });
    // A cancel during an attempt waits for its outcome. The pauses between attempts grow, so one is long enough.
    let pauseMs = 0;
    while (pauseMs < 3_000) {
      const { structuredContent } = await client.call(CHECK, { sessionId });
      const [, nextTry = ''] =
        /The next try is at (\S+)\./.exec(String(structuredContent?.['message'])) ?? [];
      pauseMs = nextTry === '' ? 0 : Date.parse(nextTry) - Date.now();
    }
    const cancelled = await client.call(CANCEL, { sessionId });
    expect(textOf(cancelled)).toContain('The agent never had the task');
    const back = await startAgent({ port });
    const after = await client.call(LIST, {});
    expect(after.structuredContent).toMatchObject({ sessions: [] });
    expect(back.count('SendStreamingMessage')).toBe(0);
  });

  test('R100 if an endpoint is up again, the next attempt delivers the message, and the session continues', async () => {
    const { client, port } = await refusing();
    const delegated = await client.call(DELEGATE, { task: 'try', waitSeconds: 0 });
    const back = await startAgent({ port, onMessage: (task) => task.work().say('done').complete() });
    const waited = await client.call(WAIT, { sessionId: sessionOf(delegated), waitSeconds: 60 });
    expect(waited.structuredContent).toMatchObject({ state: 'completed', output: 'done' });
    expect(back.count('SendStreamingMessage')).toBe(1);
  });

  test('R100 if the agent lost its tasks in a restart, every result says "unknown to the agent", and the bridge asks for no decision', async () => {
    const { agent, client } = await fake({ onMessage: (task) => task.work().ask(pendingWrite('one')) });
    const delegated = await client.call(DELEGATE, { task: 'write' });
    expect(delegated.structuredContent).toMatchObject({ state: 'input_required' });
    const sessionId = sessionOf(delegated);
    agent.tasks.clear();
    const checked = await client.call(CHECK, { sessionId });
    expect(checked.structuredContent).toMatchObject({ state: 'unknown_to_agent', pending: [] });
    expect(textOf(checked)).toContain('does not know this task');
    const listed = await client.call(LIST, {});
    expect(listed.structuredContent).toMatchObject({ sessions: [{ state: 'unknown_to_agent', pending: 0 }] });
    expect(textOf(listed)).not.toContain('waiting for a decision');
    const waited = await client.call(WAIT, { sessionId });
    expect(waited).toMatchObject({ isError: true, structuredContent: { state: 'unknown_to_agent' } });
    const cancelled = await client.call(CANCEL, { sessionId });
    expect(cancelled.structuredContent).toMatchObject({ state: 'unknown_to_agent' });
    expect(textOf(cancelled)).toContain('nothing to cancel');
  });

  test.each(['failed', 'rejected'] as const)(
    'R100 a delegation that ends as %s is an error of the call, and the result has this state',
    async (state) => {
      const { client } = await fake({ onMessage: (task) => task.work().say('I will not.').end(state) });
      const delegated = await client.call(DELEGATE, { task: 'try' });
      expect(delegated).toMatchObject({ isError: true, structuredContent: { state } });
      expect(textOf(delegated)).toContain('I will not.');
      const sessionId = sessionOf(delegated);
      const listed = await client.call(LIST, {});
      expect(listed.structuredContent).toMatchObject({ sessions: [{ state }] });
      const checked = await client.call(CHECK, { sessionId });
      expect(checked.isError).not.toBe(true);
      expect(checked.structuredContent).toMatchObject({ state });
    },
  );
});
