import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { rowsIn } from '../../support/bridge-database.ts';
import type { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import {
  APPROVE_ONE,
  CHECK,
  DELEGATE,
  LIST,
  WAIT,
  closeAfterTest,
  startAgent,
  startClient,
  stateDirectory,
} from './support/bridge-stage.ts';
import { type RawClient, textOf } from './support/raw-client.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';

const STOPPED = 'AbortError: user-cancel';
const TIMED_OUT = 'McpError: MCP error -32001: Request timed out';

function delegate(client: RawClient, id?: string | number, meta = {}) {
  return client.send('tools/call', { name: DELEGATE, arguments: { task: 'long' }, _meta: meta }, id);
}

function cancelCall(client: RawClient, requestId: string | number, reason?: string): void {
  client.notify('notifications/cancelled', { requestId, ...(reason === undefined ? {} : { reason }) });
}

async function clientOf(agentUrl: string, onCancel = 'detach', stateDir?: string): Promise<RawClient> {
  const args = ['--on-cancel', onCancel, '--log-level', 'info'];
  return startClient({ url: agentUrl }, { args, ...(stateDir && { stateDir }) });
}

async function agentOf(options: Parameters<typeof FakeAgent.start>[0] = {}): Promise<FakeAgent> {
  return startAgent({ onMessage: (task) => task.work(), ...options });
}

describe('a call that its client cancels', () => {
  test.each([
    ['a number', 4711],
    ['a string', 'request-7'],
  ])(
    'R48 a call with %s as its id ends after a last progress message and without a result; the log contains the reason',
    async (_, id) => {
      const agent = await agentOf();
      const client = await clientOf(agent.url);
      const { answer } = delegate(client, id, { progressToken: 'p' });
      let answered = false;
      void answer.then(() => (answered = true));
      await agent.asked('SendStreamingMessage');
      cancelCall(client, id, STOPPED);
      await client.progressed(
        /the person stopped it \("AbortError: user-cancel"\)\. Its task was not touched/,
      );
      await client.logged(/the effect of a cancelled call/);
      const line = client.stderr.split('\n').find((each) => each.includes('the client cancelled a call'));
      expect(JSON.parse(line ?? '{}')).toMatchObject({ requestId: id, cause: 'person', reason: STOPPED });
      const last = client.progress().at(-1)?.message;
      agent.task
        .activity({ type: 'tool.started', callId: 'c', tool: 'w', title: 'W', toolId: 't' })
        .complete();
      expect((await client.call(WAIT, { sessionId: 'session-1' })).structuredContent).toMatchObject({
        state: 'completed',
      });
      expect(client.progress().at(-1)?.message).toBe(last);
      expect(answered).toBe(false);
      expect(agent.count('CancelTask')).toBe(0);
    },
  );

  test('R48 the next result reports the cancelled call once, in a note with its session', async () => {
    const agent = await agentOf();
    const client = await clientOf(agent.url);
    const { id } = delegate(client);
    await agent.asked('SendStreamingMessage');
    cancelCall(client, id, STOPPED);
    const listed = await client.call(LIST, {});
    expect(listed.structuredContent?.['notes']).toEqual([
      expect.stringMatching(/delegate_task_to_assistant was not answered: the person stopped it.*Session "/),
    ]);
    expect(textOf(listed)).toContain('Note: An earlier call of delegate_task_to_assistant was not answered');
    expect((await client.call(LIST, {})).structuredContent).toMatchObject({ notes: [] });
  });

  test.each([
    ['cancel', STOPPED, 1],
    ['cancel', TIMED_OUT, 0],
    ['cancel', 'AbortError: This operation was aborted', 0],
    ['cancel', undefined, 0],
    ['detach', STOPPED, 0],
  ])(
    'R48 --on-cancel %s with the reason %p sends %i cancel requests to the agent',
    async (onCancel, reason, cancels) => {
      const agent = await agentOf();
      const client = await clientOf(agent.url, onCancel);
      const handle = await client.call(DELEGATE, { task: 'long', waitSeconds: 0 });
      const { id } = client.send('tools/call', {
        name: WAIT,
        arguments: handle.structuredContent && { sessionId: 'session-1' },
      });
      // The bridge begins calls in order. So the answer to this later call shows that the wait has begun.
      await client.call(LIST, {});
      cancelCall(client, id, reason);
      if (cancels > 0) await client.logged(/"outcome":"cancelled"/);
      else await client.logged(/"outcome":"goes-on"/);
      const looked = await client.call(CHECK, { sessionId: 'session-1' });
      expect(looked.structuredContent).toMatchObject({ state: cancels > 0 ? 'cancelled' : 'working' });
      expect(textOf(looked)).toContain(cancels > 0 ? 'Its task was cancelled.' : 'Its task was not touched.');
      expect(agent.count('CancelTask')).toBe(cancels);
    },
  );

  test('R48 a cancel has no effect if its id is unknown, belongs to a finished call, or belongs to the handshake', async () => {
    const agent = await agentOf({ onMessage: (task) => task.work().say('done').complete() });
    const client = await clientOf(agent.url, 'cancel');
    // Id 1 belongs to the handshake, which has ended. The other ids belong to no request.
    for (const id of [1, '1', 'nobody', 999, '']) cancelCall(client, id, STOPPED);
    client.notify('notifications/cancelled', { reason: STOPPED });
    client.notify('notifications/cancelled', { requestId: { deep: [] }, reason: 7 });
    const { id, answer } = delegate(client);
    expect((await answer).result).toMatchObject({ structuredContent: { state: 'completed' } });
    cancelCall(client, id, STOPPED);
    const listed = await client.call(LIST, {});
    expect(listed.structuredContent).toMatchObject({ sessions: [{ state: 'completed' }], notes: [] });
    expect(agent.count('CancelTask')).toBe(0);
    expect(client.invalidLines).toEqual([]);
  });

  test('R48 A3 if the result and the cancel arrive at the same time, the bridge keeps the result, in both orders', async () => {
    const agent = await agentOf();
    const client = await clientOf(agent.url);
    for (let round = 1; round <= 20; round += 1) {
      const { id, answer } = delegate(client);
      await agent.asked('SendStreamingMessage', round);
      const task = [...agent.tasks.values()].at(-1);
      const finish = (): unknown => task?.say('done').complete();
      if (round % 2 === 0) finish();
      cancelCall(client, id, STOPPED);
      if (round % 2 === 1) finish();
      const sessionId = `session-${String(round)}`;
      const result = await client.call(WAIT, { sessionId });
      expect(result.structuredContent).toMatchObject({ state: 'completed', output: 'done' });
      void answer;
    }
    expect(agent.count('SendStreamingMessage')).toBe(20);
  });

  test('R48 E3 with --on-cancel detach, after a cancel before the agent’s first answer the agent has the message once, and the task continues', async () => {
    const agent = await agentOf();
    const releaseAnswers = agent.hold();
    const client = await clientOf(agent.url);
    const { id } = delegate(client);
    await agent.asked('SendStreamingMessage');
    cancelCall(client, id, STOPPED);
    await client.logged(/"outcome":"goes-on"/);
    releaseAnswers();
    const listed = await client.call(LIST, { state: 'working' });
    const sessionId = /session-1|[0-9a-f-]{36}/.exec(textOf(listed))?.[0];
    const waiting = client.call(WAIT, { sessionId });
    await agent.asked('SendStreamingMessage');
    while (agent.tasks.size === 0) await client.call(LIST, {});
    agent.task.say('done').complete();
    expect((await waiting).structuredContent).toMatchObject({ state: 'completed', output: 'done' });
    expect(agent.count('SendStreamingMessage')).toBe(1);
  });

  test('R48 E3 with --on-cancel cancel, after a cancel before the agent’s first answer the bridge cancels the task once it has an id', async () => {
    const agent = await agentOf();
    const releaseAnswers = agent.hold();
    const client = await clientOf(agent.url, 'cancel');
    const { id } = delegate(client);
    await agent.asked('SendStreamingMessage');
    cancelCall(client, id, STOPPED);
    await client.logged(/"outcome":"cancelled-when-known"/);
    expect(agent.count('CancelTask')).toBe(0);
    const listed = await client.call(LIST, {});
    expect(textOf(listed)).toContain('The bridge cancels the task when the agent confirms it');
    releaseAnswers();
    await agent.asked('CancelTask');
    expect(agent.task.ended).toBe(true);
    expect((await client.call(WAIT, { sessionId: 'session-1' })).structuredContent).toMatchObject({
      state: 'cancelled',
    });
    expect(agent.count('SendStreamingMessage')).toBe(1);
  });

  test('R48 B3 if a bridge is killed before it sends the cancel, the next bridge sends the cancel', async () => {
    const stateDir = await stateDirectory();
    const agent = await agentOf();
    const releaseAnswers = agent.hold();
    const first = await clientOf(agent.url, 'cancel', stateDir);
    const { id } = delegate(first);
    await agent.asked('SendStreamingMessage');
    cancelCall(first, id, STOPPED);
    await first.logged(/"outcome":"cancelled-when-known"/);
    await first.kill();
    releaseAnswers();
    await clientOf(agent.url, 'detach', stateDir);
    await agent.asked('CancelTask');
    expect(agent.task.ended).toBe(true);
    expect(agent.count('SendStreamingMessage')).toBe(1);
  });

  test('R48 after a cancel before the bridge has stored the message, it sends and stores nothing, and the next result says so', async () => {
    const agent = await agentOf();
    // The agent delays its card. The bridge can send nothing before it has read the card.
    const release: (() => void)[] = [];
    const slow = createServer((request, response) => {
      release.push(() => {
        void fetch(`${agent.url}${request.url ?? ''}`)
          .then((answer) => answer.text())
          .then((card) => response.writeHead(200, { 'content-type': 'application/json' }).end(card));
      });
    });
    const { host, close } = await listenOnLoopback(slow);
    closeAfterTest(close);
    const stateDir = await stateDirectory();
    const client = await clientOf(`http://${host}`, 'detach', stateDir);
    const asked = once(slow, 'request');
    const { id } = delegate(client);
    await asked;
    cancelCall(client, id, STOPPED);
    await client.logged(/the client cancelled a call/);
    for (const each of release) each();
    await client.logged(/"outcome":"unsent"/);
    const listed = await client.call(LIST, {});
    expect(textOf(listed)).toContain('Nothing was sent.');
    expect(agent.count('SendStreamingMessage')).toBe(0);
    expect(await rowsIn(stateDir, `SELECT * FROM delegations WHERE state <> 'collected'`)).toEqual([]);
  });

  test('R48 a decision stays valid if its call is cancelled after the bridge sent the decision, and the task continues', async () => {
    const agent = await agentOf({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
      onDecisions: (task) => task.work(),
    });
    const client = await clientOf(agent.url);
    await client.call(DELEGATE, { task: 'ask' });
    const { id } = client.send('tools/call', {
      name: 'approve_or_deny_pending_action',
      arguments: { sessionId: 'session-1', ...APPROVE_ONE },
    });
    await agent.asked('SendStreamingMessage', 2);
    cancelCall(client, id, TIMED_OUT);
    await client.logged(/"outcome":"goes-on"/);
    const waiting = client.call(WAIT, { sessionId: 'session-1' });
    agent.task.say('written').complete();
    expect((await waiting).structuredContent).toMatchObject({
      state: 'completed',
      notes: [expect.stringContaining('the client timed out')],
    });
    expect(agent.decisions).toHaveLength(1);
  });

  test('R48 the cancel tool cancels the task with every --on-cancel setting, even if its own call is cancelled', async () => {
    const agent = await agentOf();
    const releaseAnswers = agent.hold();
    const client = await clientOf(agent.url, 'detach');
    const { id: delegation } = delegate(client);
    await agent.asked('SendStreamingMessage');
    cancelCall(client, delegation, STOPPED);
    const listed = await client.call(LIST, {});
    const sessionId = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(textOf(listed))?.[0];
    const { id } = client.send('tools/call', { name: 'cancel_running_task', arguments: { sessionId } });
    await client.call(LIST, {});
    cancelCall(client, id, STOPPED);
    await client.call(LIST, {});
    releaseAnswers();
    await agent.asked('CancelTask');
    expect(agent.task.ended).toBe(true);
  });
});
