/** Tests sessions with agents that cannot list their tasks (A2A 0.3), or that answer with a message and keep no task. */
import { expect, test } from '@jest/globals';
import { TaskState } from '@a2a-js/sdk';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { agentMessage } from '../../support/fake-agent-task.ts';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { signal } from '../../support/signal.ts';
import { DELEGATE, LIST, WAIT, closeAfterTest, startClient, stateDirectory } from './support/bridge-stage.ts';
import { textOf, sessionOf } from './support/raw-client.ts';

interface Echo {
  agent: { url: string; texts: readonly string[] };
  /** Resolves when the agent has received this number of messages. */
  received: (count: number) => Promise<void>;
  /** Lets the agent answer the messages whose text contains "slow". */
  release: () => void;
}

/** Starts an agent that repeats each text. It answers a text that begins with "chat" with a message. */
async function start(): Promise<Echo> {
  const released = signal();
  const texts: string[] = [];
  const waiting = new Set<() => void>();
  const executor: AgentExecutor = {
    async execute({ taskId, contextId, userMessage }, bus) {
      const text = userMessage.parts
        .map((each) => (each.content?.$case === 'text' ? each.content.value : ''))
        .join('');
      texts.push(text);
      for (const arrived of waiting) arrived();
      const said = (words: string, ids: { taskId: string; contextId: string }) =>
        agentMessage(words, { ...ids, messageId: `answer-${String(texts.length)}` });
      if (text.startsWith('chat')) {
        if (text.includes('slow')) await released.happened;
        bus.publish({ kind: 'message', data: said(`answer to ${text}`, { taskId: '', contextId }) });
        return bus.finished();
      }
      const timestamp = new Date().toISOString();
      const working = { state: TaskState.TASK_STATE_WORKING, timestamp, message: undefined };
      const history = [userMessage];
      bus.publish({
        kind: 'task',
        data: { id: taskId, contextId, status: working, artifacts: [], history, metadata: undefined },
      });
      if (text.includes('slow')) await released.happened;
      const message = said(`did ${text}`, { taskId, contextId });
      const status = { state: TaskState.TASK_STATE_COMPLETED, timestamp, message };
      bus.publish({ kind: 'statusUpdate', data: { taskId, contextId, status, metadata: undefined } });
      bus.finished();
    },
    cancelTask: () => Promise.resolve(),
  };
  const { url, stop } = await plainAgent('0.3', { executor });
  closeAfterTest(stop);
  const received = async (count: number): Promise<void> => {
    while (texts.length < count) await new Promise<void>((resolve) => waiting.add(resolve));
  };
  return { agent: { url, texts }, received, release: released.happen };
}

test('B3 a bridge after a kill finds the newest task of a session, not an earlier one whose result was collected', async () => {
  const { agent, release } = await start();
  const stateDir = await stateDirectory();
  const first = await startClient(agent, { stateDir });
  const done = await first.call(DELEGATE, { task: 'quick' });
  expect(done.structuredContent).toMatchObject({ state: 'completed' });
  const sessionId = sessionOf(done);
  const going = await first.call(DELEGATE, { task: 'slow', sessionId, waitSeconds: 0 });
  expect(going.structuredContent).toMatchObject({ sessionId, state: 'working' });
  await first.kill();
  const next = await startClient(agent, { stateDir });
  const waits = next.call(WAIT, { sessionId });
  release();
  expect((await waits).structuredContent).toMatchObject({
    taskId: going.structuredContent?.['taskId'],
    state: 'completed',
    output: 'did slow',
  });
});

test('an answer without a task is lost with its bridge: the next bridge says so, and does not wait for it', async () => {
  const { agent } = await start();
  const stateDir = await stateDirectory();
  const first = await startClient(agent, { stateDir });
  const done = await first.call(DELEGATE, { task: 'chat' });
  expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'answer to chat' });
  const sessionId = sessionOf(done);
  await first.kill();
  const next = await startClient(agent, { stateDir });
  const waits = await next.call(WAIT, { sessionId });
  expect(waits.structuredContent).toMatchObject({ sessionId, state: 'unknown_to_agent' });
  expect(textOf(waits)).toContain('answered with a message and keeps no task');
  const again = await next.call(DELEGATE, { task: 'chat on', sessionId });
  expect(again.structuredContent).toMatchObject({ sessionId, output: 'answer to chat on' });
  const listed = await next.call(LIST, {});
  expect(listed.structuredContent).toMatchObject({ sessions: [{ sessionId, state: 'completed' }] });
});

test('R99 a repeated call joins the answer to its own message, not that of another session without a task', async () => {
  const { agent, received, release } = await start();
  const client = await startClient(agent, { args: ['--log-level', 'info'] });
  await client.call(DELEGATE, { task: 'chat' });
  const { id } = client.send('tools/call', { name: DELEGATE, arguments: { task: 'chat slowly' } });
  await received(2);
  client.notify('notifications/cancelled', { requestId: id });
  await client.logged(/the effect of a cancelled call/);
  release();
  await client.logged(/the effect of a cancelled call[^]*"state":"completed"/);
  const repeated = await client.call(DELEGATE, { task: 'chat slowly' });
  expect(repeated.structuredContent).toMatchObject({ output: 'answer to chat slowly' });
  expect(agent.texts).toEqual(['chat', 'chat slowly']);
});

test('R68 answers without a task that nobody has read are announced, each by its session', async () => {
  const { agent, received, release } = await start();
  const client = await startClient(agent);
  for (const [at, task] of ['chat slowly', 'chat slowly too'].entries()) {
    const { id } = client.send('tools/call', { name: DELEGATE, arguments: { task } });
    await received(at + 1);
    client.notify('notifications/cancelled', { requestId: id });
  }
  release();
  const told: string[] = [];
  while (told.length < 2)
    told.push(...(textOf(await client.call(LIST, {})).match(/completed — chat slowly(?: too)?$/gm) ?? []));
  expect(told.toSorted()).toEqual(['completed — chat slowly', 'completed — chat slowly too']);
});
