import { describe, expect, test } from '@jest/globals';
import type { FakeAgent } from '../../support/fake-agent.ts';
import { CANCEL, DELEGATE, LIST, startAgent, startClient, stateDirectory } from './support/bridge-stage.ts';
import { type RawClient, resultOf, textOf } from './support/raw-client.ts';

/** Delegates, and cancels the call after the agent has the message, like a client after its time-out. */
async function delegateAndCancel(client: RawClient, agent: FakeAgent, args: object): Promise<void> {
  const before = agent.count('SendStreamingMessage');
  const { id } = client.send('tools/call', { name: DELEGATE, arguments: args });
  await agent.asked('SendStreamingMessage', before + 1);
  client.notify('notifications/cancelled', { requestId: id, reason: 'McpError: Request timed out' });
  await client.logged(new RegExp(`"requestId":${String(id)},.*"outcome":"goes-on"`));
}

async function firstBridge() {
  const agent = await startAgent({ onMessage: (task) => task.work() });
  const stateDir = await stateDirectory();
  const bridge = (): Promise<RawClient> =>
    startClient(agent, { stateDir, args: ['--log-level', 'info'], workspaces: ['/w'] });
  return { agent, bridge, client: await bridge() };
}

describe('a delegation that a client sends again', () => {
  test.each([
    ['a task without settings', DELEGATE, { task: 'long' }],
    ['a task with settings', DELEGATE, { task: 'long', autoExecute: true, workspace: '/w' }],
  ])(
    'a repeated delegation whose first call the client cancelled joins the running task, and gets its result (%s)',
    async (_, name, args) => {
      const { agent, client } = await firstBridge();
      await delegateAndCancel(client, agent, args);
      const again = client.send('tools/call', { name, arguments: { ...args, waitSeconds: 30 } });
      agent.task.say('done').complete();
      const result = resultOf(await again.answer);
      expect(result.structuredContent).toMatchObject({
        state: 'completed',
        output: 'done',
        taskId: 'task-1',
      });
      expect(textOf(result)).toContain('Nothing was sent again');
      expect(agent.count('SendStreamingMessage')).toBe(1);
      // The client has received this result. So the same delegation now starts another task.
      await client.call(DELEGATE, { ...args, waitSeconds: 0 });
      expect(agent.tasks.size).toBe(2);
    },
  );

  test('a repeated delegation whose first call the client cancelled gets the result of the first task, if that task has ended', async () => {
    const { agent, client } = await firstBridge();
    await delegateAndCancel(client, agent, { task: 'long' });
    agent.task.say('done').complete();
    const result = await client.call(DELEGATE, { task: 'long' });
    expect(result.structuredContent).toMatchObject({ state: 'completed', output: 'done' });
    expect(agent.count('SendStreamingMessage')).toBe(1);
  });

  test('if the first bridge is killed before it responds, the same delegation to the next bridge joins the task', async () => {
    const { agent, client, bridge } = await firstBridge();
    client.send('tools/call', { name: DELEGATE, arguments: { task: 'long' } });
    await agent.asked('SendStreamingMessage');
    await client.kill();
    const next = await bridge();
    const again = next.call(DELEGATE, { task: 'long' });
    await next.call(LIST, {});
    agent.task.say('done').complete();
    expect((await again).structuredContent).toMatchObject({ state: 'completed', output: 'done' });
    expect(agent.tasks.size).toBe(1);
  });

  test('R99 if a kill follows the response, the same delegation joins the task; if the client had confirmed the response, a new task starts', async () => {
    const { agent, client, bridge } = await firstBridge();
    const lost = await client.call(DELEGATE, { task: 'long', waitSeconds: 0 });
    expect(lost.structuredContent).toMatchObject({ taskId: 'task-1' });
    await client.kill();
    const next = await bridge();
    agent.task.say('done').complete();
    const again = await next.call(DELEGATE, { task: 'long' });
    expect(again.structuredContent).toMatchObject({ taskId: 'task-1', state: 'completed', output: 'done' });
    expect(agent.tasks.size).toBe(1);
    // The client's next call on the same connection confirms that it has received the answer.
    await next.call(DELEGATE, { task: 'long', waitSeconds: 0 });
    expect(agent.tasks.size).toBe(2);
  });

  test('R99 after a later call or a normal end has confirmed the response, the same delegation to the next bridge starts a new task', async () => {
    const { agent, client, bridge } = await firstBridge();
    await client.call(DELEGATE, { task: 'one', waitSeconds: 0 });
    await client.call(DELEGATE, { task: 'two', waitSeconds: 0 });
    await client.close();
    const next = await bridge();
    await next.call(DELEGATE, { task: 'two', waitSeconds: 0 });
    expect(agent.tasks.size).toBe(3);
    await next.call(LIST, {});
    await next.kill();
    const last = await bridge();
    await last.call(DELEGATE, { task: 'one', waitSeconds: 0 });
    await last.call(DELEGATE, { task: 'two', waitSeconds: 0 });
    expect(agent.tasks.size).toBe(5);
  });

  test('R68 R99 if a kill lost the response with a result, the next bridge announces the result', async () => {
    const { agent, client, bridge } = await firstBridge();
    const delegated = client.call(DELEGATE, { task: 'long' });
    await agent.asked('SendStreamingMessage');
    agent.task.say('done').complete();
    await delegated;
    await client.kill();
    const next = await bridge();
    // If the request to the agent takes long, a later result contains the announcement.
    let told: unknown;
    while (told === undefined) {
      const listed = await next.call(LIST, {});
      told = listed.structuredContent?.['waitingResults'];
    }
    expect(told).toMatchObject([{ sessionId: 'session-1', title: 'long' }]);
  });

  test('a delegation starts a new task while the first call waits, after the first response, with other arguments, or after a cancel', async () => {
    const { agent, client } = await firstBridge();
    // The second of two equal calls arrives while the first call waits.
    void client.call(DELEGATE, { task: 'one' });
    void client.call(DELEGATE, { task: 'one' });
    await agent.asked('SendStreamingMessage', 2);
    // The second of two equal calls arrives after the answer to the first.
    await client.call(DELEGATE, { task: 'two', waitSeconds: 0 });
    await client.call(DELEGATE, { task: 'two', waitSeconds: 0 });
    expect(agent.tasks.size).toBe(4);
    await delegateAndCancel(client, agent, { task: 'three' });
    // This call has the same work as the cancelled call, but other arguments.
    await client.call(DELEGATE, { task: 'three!', waitSeconds: 0 });
    await client.call(DELEGATE, { task: 'three', autoExecute: true, waitSeconds: 0 });
    expect(agent.tasks.size).toBe(7);
    // This call repeats the first one after a cancel of its task.
    await client.call(CANCEL, { sessionId: 'session-5' });
    await client.call(DELEGATE, { task: 'three', waitSeconds: 0 });
    expect(agent.tasks.size).toBe(8);
  });
});
