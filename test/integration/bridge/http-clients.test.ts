import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { TOOL_EXECUTIONS_META_KEY } from '../../../bridge/mcp/reports/tool-executions.ts';
import { rowIn } from '../../support/bridge-database.ts';
import type { FakeAgent, FakeAgentReactions } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import {
  APPROVE_ONE,
  CANCEL,
  CHECK,
  DECIDE,
  DELEGATE,
  LIST,
  WAIT,
  bridgeStart,
  closeAfterTest,
  closing,
  program,
  shared,
  startAgent,
  stateDirectory,
} from './support/bridge-stage.ts';
import { type HttpBridge, startHttpBridge } from './support/http-bridge.ts';
import { type CallResult, HTTP_CLIENTS, type HttpClient } from './support/http-client.ts';

async function restarted(start: Parameters<typeof startHttpBridge>[1]): Promise<HttpBridge> {
  const bridge = await startHttpBridge(program, start);
  closeAfterTest(() => bridge.kill());
  return bridge;
}

async function bridgeOf(agent: FakeAgent, args: readonly string[] = []): Promise<HttpBridge> {
  const stateDir = await stateDirectory();
  return restarted({ stateDir, agentUrl: agent.url, args: ['--log-level', 'info', ...args] });
}

const httpBridge = (args: readonly string[] = []): ReturnType<typeof shared<HttpBridge>> =>
  shared(
    async (agent) =>
      startHttpBridge(program, await bridgeStart(agent, { args: ['--log-level', 'info', ...args] })),
    (bridge) => bridge.kill(),
  );
const onBridge = httpBridge();
const onCancellingBridge = httpBridge(['--on-cancel', 'cancel']);
const working: FakeAgentReactions = { onMessage: (task) => task.work() };

async function agentOf(options: Parameters<typeof FakeAgent.start>[0] = {}): Promise<FakeAgent> {
  return startAgent({ onMessage: (task) => task.work(), ...options });
}

describe.each(HTTP_CLIENTS)('%s over Streamable HTTP', (name, connect, { sessions }) => {
  async function clientOf(bridge: HttpBridge): Promise<HttpClient> {
    return closing(await connect(bridge));
  }

  test('B3 the bridge marks a result as collected after it has written the response and the client has sent another call', async () => {
    const { agent, bridge } = await onBridge({ onMessage: (task) => task.work().say('done').complete() });
    const client = await clientOf(bridge);
    await client.call(DELEGATE, { task: 'go' });
    await client.call(LIST, {});
    await rowIn(
      bridge.stateDir,
      `SELECT 1 FROM delegations WHERE state = 'collected' AND task_id = '${agent.task.id}'`,
    );
  });

  test('a client delegates with progress, sees the pending action, approves, and gets the result', async () => {
    const { bridge } = await onBridge({
      onMessage: (task) =>
        task
          .work()
          .activity({ type: 'tool.requested', callId: 'one', tool: 'write-file', title: 'W', asks: true })
          .ask(pendingWrite('one')),
      onDecisions: (task) => task.work().say('written').complete(),
    });
    const client = await clientOf(bridge);
    const progress: string[] = [];
    const asked = await client.call(DELEGATE, { task: 'go' }, { onprogress: (it) => progress.push(it) });
    expect(asked.structuredContent).toMatchObject({
      state: 'input_required',
      pending: [{ callId: 'one', preview: '│ --- /dev/null\n│ +++ b/one.md\n│ @@ -0,0 +1 @@\n│ +hello' }],
    });
    expect(progress.join()).toContain('write-file waits for approval');
    const sessionId = asked.structuredContent?.['sessionId'];
    const decided = await client.call(DECIDE, { sessionId, ...APPROVE_ONE });
    expect(decided.structuredContent).toMatchObject({ state: 'completed', output: 'written' });
  });

  test('R60 a client waits for a task, and cancels it with a second call', async () => {
    const { agent, bridge } = await onBridge(working);
    const client = await clientOf(bridge);
    const waiting = client.call(DELEGATE, { task: 'long' });
    await agent.asked('SendStreamingMessage');
    const cancelled = await client.call(CANCEL, { sessionId: agent.task.contextId, reason: 'enough' });
    expect(cancelled.structuredContent).toMatchObject({ state: 'cancelled' });
    expect((await waiting).structuredContent).toMatchObject({ state: 'cancelled' });
  });

  test('R40 a client lists the running tool executions, and aborts one with the tool and with the method tools/abort', async () => {
    const started = { type: 'tool.started', callId: 'c', tool: 'run-command', title: 'Run' } as const;
    const { agent, bridge } = await onBridge({
      onMessage: (task) => task.work().activity({ ...started, toolId: 'live-1' }),
    });
    const client = await clientOf(bridge);
    await new Promise<void>((resolve) => {
      const onprogress = (message: string): void => {
        if (message.includes('run-command')) resolve();
      };
      // No client repeats the unanswered call of the client before, because the bridge would recognise the repetition.
      client.call(DELEGATE, { task: `run for ${name}` }, { onprogress }).catch(() => undefined);
    });
    const looked = await client.call(CHECK, { sessionId: agent.task.contextId });
    expect(looked['_meta']?.[TOOL_EXECUTIONS_META_KEY]).toMatchObject([{ toolId: 'live-1', agent: 'agent' }]);
    expect(looked.metadata).toMatchObject({ toolId: 'live-1' });
    expect((await client.call('abort_tool_execution', { toolId: 'live-1' })).structuredContent).toEqual({
      success: true,
      message: 'asked to abort live-1',
    });
    expect(await client.abortTool('live-1')).toMatchObject({
      success: true,
      message: 'asked to abort live-1',
    });
    expect(await client.abortTool('../gone')).toMatchObject({ success: false });
    expect(agent.aborted).toEqual(['live-1', 'live-1']);
  });

  test('R48 E4 if a client cancels a call, the call ends, the task continues, and the next result says so', async () => {
    const agent = await agentOf();
    const bridge = await bridgeOf(agent, ['--on-cancel', 'cancel']);
    const client = await clientOf(bridge);
    const stop = new AbortController();
    const waiting = client.call(DELEGATE, { task: 'long' }, { signal: stop.signal });
    await agent.asked('SendStreamingMessage');
    stop.abort();
    await expect(waiting).rejects.toThrow();
    await bridge.logged(/"outcome":"goes-on"/);
    const listed = await client.call(LIST, {});
    expect(listed.structuredContent).toMatchObject({
      sessions: [{ sessionId: agent.task.contextId, state: 'working' }],
      notes: [expect.stringContaining(`Its task was not touched. Session "${agent.task.contextId}"`)],
    });
    expect(agent.count('CancelTask')).toBe(0);
  });

  // In 2026-07-28 a client cancels a call by closing its stream. So the bridge cannot know the reason of the cancel.
  if (sessions)
    test('R48 with --on-cancel cancel, a call that the person stops cancels its task', async () => {
      const { agent, bridge } = await onCancellingBridge(working);
      const client = await clientOf(bridge);
      const stop = new AbortController();
      const waiting = client.call(DELEGATE, { task: 'long' }, { signal: stop.signal });
      await agent.asked('SendStreamingMessage');
      stop.abort('AbortError: user-cancel');
      await expect(waiting).rejects.toBeDefined();
      await agent.asked('CancelTask');
      expect(agent.task.ended).toBe(true);
    });

  test('B3 R65 after a kill and a restart of the bridge, a client finds the same task and decides its action', async () => {
    const agent = await agentOf({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
      onDecisions: (task) => task.work().say('written').complete(),
    });
    const releaseAnswers = agent.hold();
    const first = await bridgeOf(agent);
    const lost = await clientOf(first);
    const unanswered = lost.call(DELEGATE, { task: 'ask' }).catch((error: unknown) => error);
    await agent.asked('SendStreamingMessage');
    await first.kill();
    void unanswered;
    releaseAnswers();
    const second = await restarted({
      stateDir: first.stateDir,
      agentUrl: agent.url,
      port: Number(new URL(first.url).port),
    });
    expect(second.url).toBe(first.url);
    expect(second.token).toBe(first.token);
    await agent.asked('SendStreamingMessage', 2);
    const client = await clientOf(second);
    let waited: CallResult = await client.call(WAIT, { sessionId: 'session-1' });
    while (waited.isError === true) waited = await client.call(WAIT, { sessionId: 'session-1' });
    expect(waited.structuredContent).toMatchObject({ state: 'input_required', sessionId: 'session-1' });
    const decided = await client.call(DECIDE, { sessionId: 'session-1', ...APPROVE_ONE });
    expect(decided.structuredContent).toMatchObject({ state: 'completed', output: 'written' });
    expect(agent.tasks.size).toBe(1);
    expect(agent.decisions).toHaveLength(1);
  });

  if (sessions)
    test('E4 DELETE ends only the calls of its MCP session, and the next MCP session finds the task', async () => {
      const agent = await agentOf();
      const bridge = await bridgeOf(agent);
      const client = await clientOf(bridge);
      const waiting = client.call(DELEGATE, { task: 'long' }).catch((error: unknown) => error);
      await agent.asked('SendStreamingMessage');
      await client.endSession();
      await bridge.logged(/"cause":"client-gone"/);
      void waiting;
      await expect(client.call(LIST, {})).rejects.toThrow();
      const next = await clientOf(bridge);
      const waitingOn = next.call(WAIT, { sessionId: agent.task.contextId });
      agent.task.say('done').complete();
      expect((await waitingOn).structuredContent).toMatchObject({ state: 'completed', output: 'done' });
      expect(agent.count('CancelTask')).toBe(0);
    });

  test('two clients share agents, sessions and results', async () => {
    const { agent, bridge } = await onBridge(working);
    const [one, other] = [await clientOf(bridge), await clientOf(bridge)];
    const waiting = one.call(DELEGATE, { task: 'long' });
    await agent.asked('SendStreamingMessage');
    const also = other.call(WAIT, { sessionId: agent.task.contextId });
    agent.task.say('done').complete();
    for (const result of await Promise.all([waiting, also])) {
      expect(result.structuredContent).toMatchObject({ state: 'completed', output: 'done' });
    }
    expect(agent.count('SendStreamingMessage')).toBe(1);
  });

  test('SIGTERM ends the calls, the streams and the bridge with exit code 0, and the task on the agent continues', async () => {
    const agent = await agentOf();
    const bridge = await bridgeOf(agent);
    const client = await clientOf(bridge);
    const waiting = client.call(DELEGATE, { task: 'long' }).catch((error: unknown) => error);
    await agent.asked('SendStreamingMessage');
    const exit = once(bridge.process, 'exit');
    bridge.process.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    void waiting;
    expect(agent.task.ended).toBe(false);
    expect(agent.count('CancelTask')).toBe(0);
  });
});
