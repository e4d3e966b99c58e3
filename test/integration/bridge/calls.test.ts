import { describe, expect, test } from '@jest/globals';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import {
  APPROVE_ONE,
  CANCEL,
  CHECK,
  DECIDE,
  DELEGATE,
  LIST,
  WAIT,
  sharedClient,
  startAgent,
  startClient,
  onOwnBridge,
} from './support/bridge-stage.ts';
import { resultOf, textOf, refusalOf, sessionOf } from './support/raw-client.ts';

const onBridge = sharedClient();

describe('calls of the bridge’s tools', () => {
  test('R28 if the agent cannot write its journal, a wait and a status say why the task makes no progress', async () => {
    const agent = await startAgent({ onMessage: (task) => task.work() });
    agent.journalUnreachable = true;
    const client = await startClient(agent);
    const handle = await client.call(DELEGATE, { task: 'work', waitSeconds: 0 });
    const { contextId: sessionId } = agent.task;
    expect(textOf(handle)).toContain('cannot write its journal');
    expect(textOf(await client.call(WAIT, { sessionId, waitSeconds: 0 }))).toContain(
      'cannot write its journal',
    );
    expect(textOf(await client.call(CHECK, { sessionId }))).toContain('cannot write its journal');
  });

  test('S3 if a client does not read, 200 results wait for it without a Node warning about listeners', async () => {
    const { agent, client } = await onOwnBridge({ onMessage: (task) => task.work().complete() });
    client.process.stdout.pause();
    const lists = Array.from({ length: 200 }, () => client.request('tools/list', {}));
    const delegated = client.call(DELEGATE, { task: 'work' });
    await agent.asked('SendStreamingMessage');
    client.process.stdout.resume();
    for (const { result } of await Promise.all(lists)) expect(result).toHaveProperty('tools');
    expect((await delegated).structuredContent).toMatchObject({ state: 'completed' });
    expect(client.stderr).not.toContain('Warning');
  });

  test('R60 two delegations, a status call and a decision run at the same time, and none blocks another', async () => {
    const { agent, bridge: client } = await onBridge({
      onMessage: (task, text) => (text === 'ask' ? task.work().ask(pendingWrite('one')) : task.work()),
      onDecisions: (task) => task.work().say('written').complete(),
    });
    const slow = client.call(DELEGATE, { task: 'slow' });
    const alsoSlow = client.call(DELEGATE, { task: 'slow too' });
    await agent.asked('SendStreamingMessage', 2);
    const asking = await client.call(DELEGATE, { task: 'ask' });
    const [listed, status, decided] = await Promise.all([
      client.call(LIST, {}),
      client.call(CHECK, { sessionId: sessionOf(asking) }),
      client.call(DECIDE, { sessionId: sessionOf(asking), ...APPROVE_ONE }),
    ]);
    expect(textOf(listed)).toContain(sessionOf(asking));
    expect(status.isError).toBeUndefined();
    expect(decided.structuredContent).toMatchObject({ state: 'completed', output: 'written' });
    // The slow calls wait until their tasks end.
    for (const task of agent.tasks.values()) if (!task.settled) task.say('late').complete();
    expect((await slow).structuredContent).toMatchObject({ state: 'completed', output: 'late' });
    expect((await alsoSlow).structuredContent).toMatchObject({ state: 'completed', output: 'late' });
    expect(client.invalidLines).toEqual([]);
  });

  test('R61 a cancel by session id cancels the first turn on the agent, and the delegating call ends', async () => {
    const { agent, bridge: client } = await onBridge({ onMessage: (task) => task.work() });
    const running = client.call(DELEGATE, { task: 'run on' });
    await agent.asked('SendStreamingMessage');
    const listed = await client.call(LIST, { state: 'working' });
    const { id, contextId: sessionId } = agent.task;
    expect(textOf(listed)).toContain(sessionId);
    const cancelled = await client.call(CANCEL, { sessionId, reason: 'enough' });
    expect(cancelled.structuredContent).toMatchObject({ state: 'cancelled' });
    expect(agent.requests.find((each) => each.method === 'CancelTask')?.params).toMatchObject({
      id,
      metadata: { reason: 'enough' },
    });
    expect((await running).structuredContent).toMatchObject({ state: 'cancelled' });
  });

  test('R61 before a task has an id, the client can cancel it with the id of its message', async () => {
    const { agent, bridge: client } = await onBridge({ onMessage: (task) => task.work() });
    const openGate = agent.hold();
    const handle = await client.call(DELEGATE, { task: 'slow to start', waitSeconds: 0 });
    const sessionId = sessionOf(handle);
    expect(handle.structuredContent).toMatchObject({ state: 'not_delivered' });
    const cancelling = client.call(CANCEL, { sessionId });
    await agent.asked('SendStreamingMessage');
    openGate();
    expect((await cancelling).structuredContent).toMatchObject({ state: 'cancelled', taskId: agent.task.id });
    expect(agent.task.ended).toBe(true);
  });

  test('a task uses the fast tier and a consultation the smart tier, unless the call names a model', async () => {
    const { agent, bridge: client } = await onBridge({ onMessage: (task) => task.work().complete() });
    const CONSULT = 'quick_consultation_for_second_opinion';
    const delegated = await client.call(DELEGATE, { task: 'go' });
    await client.call(CONSULT, { question: 'why?' });
    await client.call(DELEGATE, { task: 'go', model: 'openai:x' });
    // The second message names no model, so the session keeps the model of the first.
    await client.call(DELEGATE, { task: 'go on', sessionId: sessionOf(delegated) });
    const models = agent.requests
      .filter(({ method }) => method === 'SendStreamingMessage')
      .map(({ params }) => /"model":"([^"]+)"/.exec(JSON.stringify(params))?.[1]);
    expect(models).toEqual(['fast', 'smart', 'openai:x', undefined]);
  });

  test.each([
    ['0', 0],
    ['the empty string', ''],
    ['a word', 'token'],
  ])('R62 with the progress token %s, the call reports progress that names the tools', async (_, token) => {
    const { bridge: client } = await onBridge({
      onMessage: (task) =>
        task
          .work()
          .activity({ type: 'tool.started', callId: 'c', tool: 'search-text', title: 'Search', toolId: 't' })
          .complete(),
    });
    await client.call(DELEGATE, { task: 'go' }, { progressToken: token });
    expect(client.progress()).not.toEqual([]);
    for (const each of client.progress()) expect(each.token).toBe(token);
    expect(
      client
        .progress()
        .map((each) => each.message)
        .join(),
    ).toContain('search-text');
  });

  test('R15 B4 for an unknown session, the error lists the existing sessions, and the bridge starts nothing', async () => {
    const { agent, bridge: client } = await onBridge({
      onMessage: (task) => task.work().say('done').complete(),
    });
    await client.call(DELEGATE, { task: 'known' });
    const calls = [
      client.call(WAIT, { sessionId: 'nowhere' }),
      client.call(CHECK, { sessionId: 'nowhere' }),
      client.call(CANCEL, { sessionId: 'nowhere' }),
      client.call(DELEGATE, { task: 'more', sessionId: 'nowhere' }),
      client.call(DECIDE, { sessionId: 'nowhere', ...APPROVE_ONE }),
    ];
    for (const result of await Promise.all(calls)) {
      expect(refusalOf(result)).toContain('There is no session "nowhere"');
      expect(textOf(result)).toContain(agent.task.contextId);
    }
    expect(agent.tasks.size).toBe(1);
  });

  test('a session keeps its agent: the bridge refuses a call that names an unknown agent, and sends nothing', async () => {
    const { agent, bridge: client } = await onBridge({
      onMessage: (task) => task.work().say('done').complete(),
    });
    await client.call(DELEGATE, { task: 'one' });
    const sessionId = agent.task.contextId;
    const refused = await client.call(DELEGATE, { task: 'two', sessionId, agent: 'nobody' });
    expect(refusalOf(refused)).toContain('There is no agent "nobody"');
    expect(agent.count('SendStreamingMessage')).toBe(1);
    const more = await client.call(DELEGATE, { task: 'two', sessionId, agent: 'agent' });
    expect(agent.tasks.size).toBe(2);
    const [, second] = agent.tasks.keys();
    expect(more.structuredContent).toMatchObject({ sessionId, taskId: second });
  });

  test('R06 if a session waits for a decision, a message is refused; the error names the tool, the session and the calls', async () => {
    const { agent, bridge: client } = await onBridge({
      onMessage: (task) => task.work().ask(pendingWrite('one'), pendingWrite('two')),
    });
    await client.call(DELEGATE, { task: 'ask' });
    const sessionId = agent.task.contextId;
    const refused = await client.call(DELEGATE, { task: 'approve', sessionId });
    expect(refusalOf(refused)).toMatch(
      new RegExp(`approve_or_deny_pending_action: sessionId "${sessionId}", callId "one" .*callId "two"`),
    );
    expect(agent.count('SendStreamingMessage')).toBe(1);
    expect(agent.decisions).toEqual([]);
  });

  test.each([
    ['no token', undefined, /MCP_A2A_BRIDGE_AGENT_TOKEN is not set/],
    ['a wrong token', 'wrong', /token in the environment variable MCP_A2A_BRIDGE_AGENT_TOKEN was refused/],
  ])('B4 with %s, the error and the list of agents name the source of the token', async (_, token, said) => {
    const agent = await startAgent({ token: 'right' });
    const client = await startClient({ url: agent.url, token });
    const refused = await client.call(DELEGATE, { task: 'go' });
    expect(refusalOf(refused)).toMatch(said);
    expect(textOf(refused)).toContain('--agent-token-env');
    const shown = await client.call('get_agent_capabilities_and_version', {});
    expect(shown.structuredContent).toMatchObject({ agents: [{ reachable: true }] });
    expect(textOf(shown)).toMatch(said);
  });

  test('R06 a decision with an unknown word is refused, the bridge sends nothing, and the action stays pending', async () => {
    const { agent, bridge: client } = await onBridge({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
    });
    const asked = await client.call(DELEGATE, { task: 'ask' });
    const sessionId = sessionOf(asked);
    for (const decision of ['reject', 'yes', 'APPROVE ', 'Approve', 1, true, null, ['approve']]) {
      const refused = await client.call(DECIDE, { sessionId, callId: 'one', shown: 'hash-of-one', decision });
      expect(refusalOf(refused)).toContain('approve');
    }
    expect(agent.decisions).toEqual([]);
    expect((await client.call(WAIT, { sessionId })).structuredContent).toMatchObject({
      state: 'input_required',
      pending: [{ callId: 'one' }],
    });
  });

  test('a decision that the agent receives has the shown code, the scope and the reason', async () => {
    const { agent, bridge: client } = await onBridge({
      onMessage: (task) => task.work().ask(pendingWrite('one'), pendingWrite('two'), pendingWrite('three')),
      onDecisions: (task) => task.work().complete(),
    });
    const asked = await client.call(DELEGATE, { task: 'ask' });
    await client.call(DECIDE, {
      sessionId: sessionOf(asked),
      decisions: [
        { callId: 'one', shown: 'hash-of-one', decision: 'trust_tool' },
        { callId: 'two', shown: 'hash-of-two', decision: 'deny', reason: 'not now' },
        { callId: 'three', shown: 'hash-of-three', decision: 'edit', editedContent: 'bye' },
      ],
    });
    expect(agent.decisions).toEqual([
      { callId: 'one', shown: 'hash-of-one', decision: 'approve', scope: 'tool' },
      { callId: 'two', shown: 'hash-of-two', decision: 'deny', scope: 'once', reason: 'not now' },
      { callId: 'three', shown: 'hash-of-three', decision: 'edit', scope: 'once', content: 'bye' },
    ]);
  });

  test('R03 after a decision about one of two actions the call returns, and the other action stays pending', async () => {
    const { bridge: client } = await onBridge({
      onMessage: (task) => task.work().ask(pendingWrite('one'), pendingWrite('two')),
      onDecisions: (task) => task.ask(pendingWrite('two')),
    });
    const asked = await client.call(DELEGATE, { task: 'ask' });
    const decided = await client.call(DECIDE, {
      sessionId: sessionOf(asked),
      ...APPROVE_ONE,
    });
    expect(decided.structuredContent).toMatchObject({
      state: 'input_required',
      pending: [{ callId: 'two' }],
    });
  });

  test('after its time limit, a wait returns the session and the next step; a later wait gets the result', async () => {
    const { agent, bridge: client } = await onBridge({ onMessage: (task) => task.work() });
    const early = await client.call(DELEGATE, { task: 'slow', waitSeconds: 0.05 });
    expect(early.structuredContent).toMatchObject({ state: 'working' });
    expect(textOf(early)).toContain('wait_for_task');
    const sessionId = sessionOf(early);
    // The agent has not named the session yet. So the result may contain a temporary id, which must stay valid.
    const waiting = client.call(WAIT, { sessionId });
    await agent.asked('SendStreamingMessage');
    agent.task.say('all done').complete();
    expect((await waiting).structuredContent).toMatchObject({ state: 'completed', output: 'all done' });
    expect(agent.count('SendStreamingMessage')).toBe(1);
  });

  test('R48 a cancelled call ends without a result, the log contains its reason, and the task continues', async () => {
    const { agent, client } = await onOwnBridge(
      { onMessage: (task) => task.work() },
      { args: ['--log-level', 'info'] },
    );
    const { id } = client.send('tools/call', { name: DELEGATE, arguments: { task: 'long' } });
    await agent.asked('SendStreamingMessage');
    client.notify('notifications/cancelled', { requestId: id, reason: 'AbortError: user-cancel' });
    const listed = await client.call(LIST, {});
    expect(listed.structuredContent).toMatchObject({
      sessions: [{ sessionId: 'session-1', state: 'working' }],
    });
    await client.logged(/AbortError: user-cancel/);
    expect(agent.count('CancelTask')).toBe(0);
    agent.task.say('still here').complete();
    const result = await client.call(WAIT, { sessionId: 'session-1' });
    expect(result.structuredContent).toMatchObject({ state: 'completed', output: 'still here' });
  });

  test('R40 a client aborts a tool execution by its id, with the tool and with the method tools/abort', async () => {
    const { agent, bridge: client } = await onBridge({
      onMessage: (task) =>
        task.work().activity({
          type: 'tool.started',
          callId: 'c',
          tool: 'run-command',
          title: 'Run',
          toolId: 'live-1',
        }),
    });
    await client.call(DELEGATE, { task: 'run', waitSeconds: 0 });
    const asTool = await client.call('abort_tool_execution', { toolId: 'live-1' });
    expect(asTool.structuredContent).toEqual({ success: true, message: 'asked to abort live-1' });
    const asMethod = await client.request('tools/abort', { toolId: 'live-1', reason: 'too long' });
    expect(asMethod.result).toMatchObject({ success: true, message: 'asked to abort live-1' });
    expect((await client.request('tools/abort', { toolId: 'gone' })).result).toMatchObject({
      success: false,
    });
    expect((await client.request('tools/abort', {})).error?.code).toBe(-32602);
    const unknown = await client.call('abort_tool_execution', { toolId: 'unknown-tool' });
    expect(refusalOf(unknown)).toContain('asked to abort unknown-tool');
    expect(agent.aborted).toEqual(['live-1', 'live-1', 'gone', 'unknown-tool']);
  });

  test('every result uses the same name for a state, and after a cancel no action is pending', async () => {
    const { agent, bridge: client } = await onBridge({
      onMessage: (task) =>
        task
          .work()
          .activity({
            type: 'tool.requested',
            callId: 'one',
            tool: 'write-file',
            title: 'Write one.md',
            asks: true,
          })
          .ask(pendingWrite('one')),
    });
    await client.call(DELEGATE, { task: 'ask' });
    const { id, contextId: sessionId } = agent.task;
    const listed = await client.call(WAIT, { sessionId: 'nowhere' });
    expect(textOf(listed)).toContain('(input_required');
    const cancelled = await client.call(CANCEL, { sessionId });
    expect(cancelled.structuredContent).toMatchObject({
      state: 'cancelled',
      pending: [],
      calls: [{ callId: 'one', state: 'skipped' }],
    });
    const looked = await client.call(CHECK, { sessionId });
    expect(looked.structuredContent).toMatchObject({ state: 'cancelled', phase: 'cancelled' });
    const unknown = await client.call(WAIT, { sessionId: 'nowhere' });
    const said = [listed, cancelled, looked, unknown].map(textOf).join('\n');
    expect(said).toContain(`task ${id}: cancelled.`);
    expect(said).not.toMatch(/canceled|input-required/);
  });

  test('a message to a session whose task has ended starts the session’s next task', async () => {
    const { agent, bridge: client } = await onBridge({
      onMessage: (task, text) => task.work().say(`did ${text}`).complete(),
    });
    const first = await client.call(DELEGATE, { task: 'one' });
    const sessionId = sessionOf(first);
    const second = await client.call(DELEGATE, { task: 'two', sessionId });
    const [, next] = agent.tasks.values();
    expect(next?.contextId).toBe(sessionId);
    expect(second.structuredContent).toMatchObject({ sessionId, taskId: next?.id, output: 'did two' });
  });

  test('B2 unknown tools and malformed requests are JSON-RPC errors, and stdout contains only MCP', async () => {
    const { client } = await onOwnBridge({});
    expect((await client.request('tools/call', { name: 'no_such_tool', arguments: {} })).error?.code).toBe(
      -32602,
    );
    expect((await client.request('no/such/method', {})).error?.code).toBe(-32601);
    client.process.stdin.write('this is not JSON\n{"jsonrpc":"2.0"}\n[]\n\u0000\n');
    const after = resultOf(
      await client.request('tools/call', { name: 'list_all_active_sessions', arguments: {} }),
    );
    expect(after.isError).toBeUndefined();
    expect(client.invalidLines).toEqual([]);
    expect(await client.close()).toBe(0);
  });
});
