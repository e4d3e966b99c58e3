import { describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApplicationElicitResult, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { taskId as asTaskId } from '@modelcontextprotocol/ext-tasks/core';
import { z } from 'zod';
import type { FakeAgent, FakeAgentReactions } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { append, plan } from '../../support/offline-plan.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import {
  DECIDE,
  DELEGATE,
  FAST_ANSWERS,
  LIST,
  WAIT,
  type AgentAddress,
  bridgeStart,
  closing,
  program,
  shared,
  startAgent,
  stateDirectory,
} from './support/bridge-stage.ts';
import { decisionChannels } from './support/decision-channels.ts';
import { type Form, type TasksClient, tasksClient, type TasksClientOptions } from './support/tasks-client.ts';

const accept = (content: ApplicationElicitResult['content'] = {}): ApplicationElicitResult => ({
  action: 'accept',
  content,
});

const report = z.looseObject({
  structuredContent: z.looseObject({ state: z.string(), output: z.string(), sessionId: z.string() }),
});
const detailed = z.looseObject({
  status: z.string(),
  statusMessage: z.string(),
  inputRequests: z
    .record(z.string(), z.looseObject({ method: z.string(), params: z.looseObject({ message: z.string() }) }))
    .optional(),
});

async function clientAt(
  agent: AgentAddress,
  options: TasksClientOptions & { stateDir?: string; args?: readonly string[] } = {},
): Promise<TasksClient> {
  const { stateDir, args = FAST_ANSWERS, ...rest } = options;
  const start = await bridgeStart(agent, { args, ...(stateDir && { stateDir }) });
  return closing(await tasksClient(program, start, rest));
}

const asks: FakeAgentReactions = {
  onMessage: (task) => task.work().ask(pendingWrite('one')),
  onDecisions: (task, [decision]) => task.work().say(`decided ${decision?.decision}`).complete(),
};
const works: FakeAgentReactions = { onMessage: (task) => task.work() };
const asking = (): Promise<FakeAgent> => startAgent(asks);

/** Like `clientAt`, but the tests share the bridge. */
function sharedTasksClient(
  options: TasksClientOptions & { args?: readonly string[] } = {},
): ReturnType<typeof shared<TasksClient>> {
  const { args = FAST_ANSWERS, ...rest } = options;
  return shared(
    async (agent) => tasksClient(program, await bridgeStart(agent, { args }), rest),
    (client) => client.close(),
  );
}

const onBridge = sharedTasksClient();
const withoutTasks = sharedTasksClient({ tasks: false });

test('R66 a client that declares tasks gets a task at once, polls it, answers its form, and gets the result', async () => {
  const agent = await asking();
  const forms: Form[] = [];
  const person = (form: Form): ApplicationElicitResult => {
    forms.push(form);
    return accept();
  };
  const client = await clientAt(agent, { person });
  const execution = await client.session.callTool(DELEGATE, { task: 'do it' });
  expect(execution.kind).toBe('task');
  const { outcome } = await execution.settle();
  const { structuredContent } = report.parse(resultFromTaskOutcome(outcome));
  expect(structuredContent).toMatchObject({ state: 'completed', output: 'decided approve' });
  expect(forms).toHaveLength(1);
  expect(forms[0]).toMatchObject({
    message: 'Create one.md: +1\n+ hello',
    requestedSchema: { properties: {} },
  });
  expect(decisionChannels(agent)).toEqual(['task-form']);
  expect(agent.decisions).toMatchObject([{ callId: 'one', shown: 'hash-of-one', scope: 'once' }]);
});

test('the id of an MCP task names the agent: two agents may use the same ids for sessions and tasks', async () => {
  const quiet = await startAgent(works);
  const agent = await asking();
  const stateDir = await stateDirectory();
  const agents = { quiet: { url: quiet.url }, asking: { url: agent.url } };
  await writeFile(join(stateDir, 'config.json'), JSON.stringify({ bridge: { agents } }));
  const client = closing(await tasksClient(program, { stateDir, args: FAST_ANSWERS }, {}));
  const begin = async (name: string): Promise<string> => {
    const args = { name: DELEGATE, arguments: { task: 'do it', agent: name } };
    return z.looseObject({ taskId: z.string() }).parse((await client.ask('tools/call', args)).result).taskId;
  };
  const first = await begin('quiet');
  const taskId = await begin('asking');
  expect([quiet.task.id, agent.task.id]).toEqual([quiet.task.id, quiet.task.id]);
  for (;;) {
    const { status } = detailed.parse((await client.ask('tasks/get', { taskId })).result);
    if (status === 'input_required') break;
  }
  const waited = await client.ask('tools/call', {
    name: WAIT,
    arguments: { sessionId: taskId, waitSeconds: 0 },
  });
  expect(waited.result).toMatchObject({ structuredContent: { agent: 'asking' } });
  await client.ask('tasks/cancel', { taskId });
  expect([quiet.count('CancelTask'), agent.count('CancelTask')]).toEqual([0, 1]);
  expect(detailed.parse((await client.ask('tasks/get', { taskId: first })).result).status).toBe('working');
});

describe('MCP tasks of a client that declares them', () => {
  let given = accept();
  const onBridgeWithMore = sharedTasksClient({
    person: () => given,
    args: [...FAST_ANSWERS, '--forms', 'more'],
  });

  test.each<[string, ApplicationElicitResult, object]>([
    ['Decline denies', { action: 'decline' }, { decision: 'deny' }],
    [
      'a reason reaches the agent',
      accept({ decision: 'deny', reason: 'no' }),
      { decision: 'deny', reason: 'no' },
    ],
    ['changed text is an edit', accept({ editedContent: 'hi' }), { decision: 'edit', content: 'hi' }],
    ['trust sets a wider scope', accept({ decision: 'trust_tool' }), { decision: 'approve', scope: 'tool' }],
  ])('R66 in the form of an MCP task, %s', async (_, answer, decision) => {
    const { agent, bridge: client } = await onBridgeWithMore(asks);
    given = answer;
    const execution = await client.session.callTool(DELEGATE, { task: 'do it' });
    await execution.settle();
    expect(agent.decisions).toMatchObject([decision]);
  });

  test('R95 wait_for_task for a task with a pending action returns the preview at once, and creates no second MCP task', async () => {
    const { agent, bridge: client } = await onBridge(asks);
    const begun = await client.ask('tools/call', { name: DELEGATE, arguments: { task: 'do it' } });
    const { taskId } = z.looseObject({ taskId: z.string() }).parse(begun.result);
    await agent.asked('SendStreamingMessage', 1);
    for (;;) {
      const task = detailed.parse((await client.ask('tasks/get', { taskId })).result);
      if (task.status === 'input_required') break;
    }
    const waited = await client.ask('tools/call', { name: WAIT, arguments: { sessionId: taskId } });
    expect(waited.result).not.toHaveProperty('taskId');
    expect(report.parse(waited.result).structuredContent).toMatchObject({
      state: 'input_required',
      pending: [{ callId: 'one', preview: expect.stringContaining('+hello') }],
    });
    expect(agent.tasks.size).toBe(1);
  });

  test('R95 wait_for_task for a task that the client already polls creates no second MCP task, and the result says so', async () => {
    const { agent, bridge: client } = await onBridge(works);
    const taskId = await delegated(client);
    expect(await look(client, taskId)).toMatchObject({ status: 'working' });
    const waited = await client.ask('tools/call', { name: WAIT, arguments: { sessionId: taskId } });
    expect(waited.result).not.toHaveProperty('taskId');
    expect(report.parse(waited.result).structuredContent).toMatchObject({
      state: 'working',
      next: expect.stringContaining('in the background already'),
    });
    agent.task.say('done').complete();
    const outcome = await client.session.task(asTaskId(taskId)).result();
    expect(report.parse(resultFromTaskOutcome(outcome)).structuredContent).toMatchObject({ output: 'done' });
  });

  test('R97 the result of an MCP task begins with the results of other tasks that have ended', async () => {
    const agent = await startAgent({ onMessage: (task) => task.work() });
    const stateDir = await stateDirectory();
    const before = await clientAt(agent, { stateDir, tasks: false });
    await before.ask('tools/call', { name: DELEGATE, arguments: { task: 'walk away', waitSeconds: 0 } });
    await before.close();
    agent.task.say('done').complete();
    const client = await clientAt(agent, { stateDir });
    const taskId = await delegated(client, 'another');
    [...agent.tasks.values()].at(-1)?.say('also done').complete();
    const outcome = await client.session.task(asTaskId(taskId)).result();
    const { content, structuredContent } = resultFromTaskOutcome(outcome);
    expect(content).toMatchObject([
      { text: expect.stringMatching(/^Results that nobody has read yet.*\n.*walk away/) },
    ]);
    expect(structuredContent).toMatchObject({
      output: 'also done',
      waitingResults: [{ title: 'walk away' }],
    });
  });

  test('R66 a client that does not declare MCP tasks uses tools for the same steps, and the bridge refuses its task methods', async () => {
    const { agent, bridge: client } = await withoutTasks(asks);
    const asked = await client.ask('tools/call', {
      name: DELEGATE,
      arguments: { task: 'do it', waitSeconds: 0 },
    });
    expect(asked.result).not.toHaveProperty('taskId');
    const { structuredContent } = report.parse(asked.result);
    const { sessionId } = structuredContent;
    const decided = await decideWithTool(client, sessionId, 'approve');
    expect(report.parse(decided.result).structuredContent).toMatchObject({ state: 'completed' });
    expect(decisionChannels(agent)).toEqual(['tool']);
    const { error } = await client.ask('tasks/get', { taskId: 'session-1::task-1' });
    expect(error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    });
  });

  test('R66 B3 after a kill of the bridge, the next bridge has the same MCP task, its form and its result', async () => {
    const agent = await asking();
    const stateDir = await stateDirectory();
    const first = await clientAt(agent, { stateDir });
    const taskId = await delegated(first);
    const before = await look(first, taskId);
    const [key = ''] = Object.keys(before.inputRequests ?? {});
    if (first.pid !== null) process.kill(first.pid, 'SIGKILL');
    const second = await clientAt(agent, { stateDir });
    const after = await look(second, taskId);
    expect(after).toMatchObject({ status: 'input_required', createdAt: before['createdAt'] });
    expect(Object.keys(after.inputRequests ?? {})).toEqual([key]);
    const third = await clientAt(agent, { stateDir });
    const updated = await third.ask('tasks/update', {
      taskId,
      inputResponses: { [key]: { action: 'accept', content: {} } },
    });
    expect(updated.result).toMatchObject({ resultType: 'complete' });
    const outcome = await second.session.task(asTaskId(taskId)).result();
    expect(report.parse(resultFromTaskOutcome(outcome)).structuredContent).toMatchObject({
      output: 'decided approve',
    });
    expect(agent.decisions).toHaveLength(1);
  });

  test('R66 if the tool decides, the bridge withdraws the form and ignores a later answer to it, and the task continues', async () => {
    const { agent, bridge: client } = await onBridge(asks);
    const taskId = await delegated(client);
    const [key = ''] = Object.keys((await look(client, taskId)).inputRequests ?? {});
    // The tools accept the task id as a session id.
    const decided = await decideWithTool(client, taskId, 'deny');
    expect(report.parse(decided.result).structuredContent).toMatchObject({ output: 'decided deny' });
    const late = await client.ask('tasks/update', {
      taskId,
      inputResponses: { [key]: { action: 'accept', content: {} } },
    });
    expect(late.error).toBeUndefined();
    expect(await look(client, taskId)).toMatchObject({
      status: 'completed',
      result: { structuredContent: { output: 'decided deny' } },
    });
    expect(decisionChannels(agent)).toEqual(['tool']);
  });

  test('R66 an answer to one of several forms removes that form, and the other actions stay pending', async () => {
    const { agent, bridge: client } = await onBridge({
      onMessage: (task) => task.work().ask(pendingWrite('one'), pendingWrite('two')),
      onDecisions: (task) => (task.pending.length === 0 ? task.work().complete() : undefined),
    });
    const taskId = await delegated(client);
    const [one = '', two = ''] = Object.keys((await look(client, taskId)).inputRequests ?? {});
    await client.ask('tasks/update', {
      taskId,
      inputResponses: { [one]: { action: 'accept' }, bogus: { action: 'accept' } },
    });
    const between = await look(client, taskId);
    expect(Object.keys(between.inputRequests ?? {})).toEqual([two]);
    await client.ask('tasks/update', { taskId, inputResponses: { [two]: { action: 'decline' } } });
    expect(agent.decisions).toMatchObject([
      { callId: 'one', shown: 'hash-of-one', decision: 'approve' },
      { callId: 'two', shown: 'hash-of-two', decision: 'deny' },
    ]);
    expect(await look(client, taskId)).toMatchObject({ status: 'completed' });
  });

  test('R66 an answer to a form is acknowledged in time if the agent does not confirm it, and arrives later, once', async () => {
    const agent = await asking();
    const client = await clientAt(agent, { args: [...FAST_ANSWERS, '--wait-seconds', '1'] });
    const taskId = await delegated(client);
    const [key = ''] = Object.keys((await look(client, taskId)).inputRequests ?? {});
    const release = agent.hold();
    const updated = await client.ask('tasks/update', {
      taskId,
      inputResponses: { [key]: { action: 'accept' } },
    });
    expect(updated.error).toBeUndefined();
    release();
    const done = await client.ask('tools/call', { name: WAIT, arguments: { sessionId: taskId } });
    expect(report.parse(done.result).structuredContent).toMatchObject({ output: 'decided approve' });
    expect(agent.decisions).toHaveLength(1);
  });

  test('R66 the MCP task of a second message is not the session’s first task, even if the agent confirms the message late', async () => {
    const agent = await startAgent({ onMessage: (task, text) => task.work().say(text).complete() });
    const client = await clientAt(agent);
    const first = await client.ask('tools/call', { name: DELEGATE, arguments: { task: 'first' } });
    const { sessionId } = report.parse(first.result).structuredContent;
    const release = agent.hold();
    const second = await client.ask('tools/call', {
      name: DELEGATE,
      arguments: { task: 'second', sessionId },
    });
    const { taskId } = z.looseObject({ taskId: z.string() }).parse(second.result);
    expect(await look(client, taskId)).toMatchObject({ status: 'working' });
    release();
    const outcome = await client.session.task(asTaskId(taskId)).result();
    expect(report.parse(resultFromTaskOutcome(outcome)).structuredContent).toMatchObject({
      output: 'second',
    });
  });

  test('R66 D1 an answer that arrives faster than a person can read has no effect, and the bridge shows a new form', async () => {
    const agent = await asking();
    const client = await clientAt(agent, { args: ['--fastest-answer-seconds', '60'] });
    const taskId = await delegated(client);
    const [key = ''] = Object.keys((await look(client, taskId)).inputRequests ?? {});
    await client.ask('tasks/update', {
      taskId,
      inputResponses: { [key]: { action: 'accept', content: {} } },
    });
    const again = await look(client, taskId);
    expect(again.status).toBe('input_required');
    const [[other, { params }] = ['', { params: { message: '' } }]] = Object.entries(
      again.inputRequests ?? {},
    );
    expect(other).not.toBe(key);
    expect(params.message).toMatch(/faster than anybody reads/);
    expect(agent.decisions).toEqual([]);
    const tool = await decideWithTool(client, taskId, 'approve');
    expect(report.parse(tool.result).structuredContent).toMatchObject({ state: 'completed' });
  });

  test('R66 tasks/cancel cancels the task on its agent, and a second tasks/cancel gets the same result', async () => {
    const { agent, bridge: client } = await onBridge(works);
    const taskId = await delegated(client);
    expect(await look(client, taskId)).toMatchObject({ status: 'working' });
    for (const _ of [1, 2])
      expect((await client.ask('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
    expect(await look(client, taskId)).toMatchObject({ status: 'cancelled' });
    expect(agent.count('CancelTask')).toBe(1);
  });

  test('R66 R68 a client that has cancelled its task does not get the cancelled task as news later', async () => {
    const agent = await startAgent(works);
    const stateDir = await stateDirectory();
    const client = await clientAt(agent, { stateDir });
    const taskId = await delegated(client);
    await client.ask('tasks/cancel', { taskId });
    await client.close();
    const later = await clientAt(agent, { stateDir, tasks: false });
    const listed = await later.ask('tools/call', { name: LIST, arguments: {} });
    expect(listed.result).toMatchObject({ structuredContent: { sessions: [{ state: 'cancelled' }] } });
    expect(listed.result).not.toHaveProperty('structuredContent.waitingResults');
  });

  test('R66 an unknown task id is a JSON-RPC error, and wait_for_task creates an MCP task for a session that still works', async () => {
    const agent = await startAgent({ onMessage: (task) => task.work() });
    const stateDir = await stateDirectory();
    const client = await clientAt(agent, { stateDir });
    for (const method of ['tasks/get', 'tasks/cancel'])
      for (const taskId of ['nothing', 'no::where']) {
        const { error } = await client.ask(method, { taskId });
        expect(error).toMatchObject({ code: -32602 });
      }
    const taskId = await delegated(client);
    const other = await clientAt(agent, { stateDir });
    const waiting = await other.ask('tools/call', { name: WAIT, arguments: { sessionId: 'session-1' } });
    expect(waiting.result).toMatchObject({ resultType: 'task', taskId });
    agent.task.say('done').complete();
    const ended = await client.ask('tools/call', { name: WAIT, arguments: { sessionId: taskId } });
    expect(ended.result).toMatchObject({ resultType: 'complete', structuredContent: { output: 'done' } });
  });

  test('R66 a client that subscribes receives the form and the end of its task, and no later message', async () => {
    const agent = await asking();
    const client = await clientAt(agent);
    const taskId = await delegated(client);
    const told = await client.listen([taskId, 'no::where']);
    expect(told.accepted).toEqual([taskId]);
    const asked = detailed.parse(await told.next());
    expect(asked).toMatchObject({ status: 'input_required', taskId });
    const [key = ''] = Object.keys(asked.inputRequests ?? {});
    await client.ask('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept' } } });
    let last = detailed.parse(await told.next());
    while (last.status === 'working') last = detailed.parse(await told.next());
    expect(last).toMatchObject({
      status: 'completed',
      result: { structuredContent: { output: 'decided approve' } },
    });
    expect(await look(client, taskId)).toMatchObject({ status: 'completed' });
    expect(told.waiting()).toBe(0);
  });

  test('R66 a client that does not declare MCP tasks cannot subscribe to them', async () => {
    const { bridge: client } = await withoutTasks(asks);
    const { error } = await client.ask('subscriptions/listen', { notifications: { taskIds: ['a::b'] } });
    expect(error).toMatchObject({ code: -32021 });
  });

  test('R66 R08 with the real server, if form and tool decide at once, one counts, and only an approval writes the file', async () => {
    const whole = await sharedStage();
    const client = await clientAt(whole.server);
    const { workspace } = whole.server;
    for (const round of [1, 2, 3, 4, 5, 6]) {
      const name = `race-${String(round)}.md`;
      const execution = await client.session.callTool(DELEGATE, {
        task: plan(append(name, 'once\n'), { say: 'Done.' }),
        workspace,
      });
      if (execution.kind !== 'task') throw new Error('no task');
      const { taskId } = execution.handle;
      await execution.detach();
      let task = await look(client, taskId);
      while (task.status === 'working') task = await look(client, taskId);
      const [key = ''] = Object.keys(task.inputRequests ?? {});
      const callId = key.slice(0, key.lastIndexOf('.'));
      const pending = (await whole.peer.list()).flatMap((each) => each.pending);
      const { shown, title } = pending.find((action) => action.callId === callId) ?? {
        shown: 'not shown',
        title: 'not shown',
      };
      const byForm = (): Promise<unknown> =>
        client.ask('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept' } } });
      const byTool = (): ReturnType<TasksClient['ask']> =>
        client.ask('tools/call', {
          name: DECIDE,
          arguments: { sessionId: taskId, title, callId, shown, decision: 'deny' },
        });
      const [first, second] = round % 2 === 0 ? [byForm, byTool] : [byTool, byForm];
      await Promise.all([first(), second()]);
      const outcome = await client.session.task(asTaskId(taskId)).result();
      const { calls } = report.parse(resultFromTaskOutcome(outcome)).structuredContent;
      const [{ state } = { state: '' }] = z.array(z.looseObject({ state: z.string() })).parse(calls);
      expect(['ok', 'denied']).toContain(state);
      expect(await whole.file(name)).toBe(state === 'ok' ? 'once\n' : undefined);
    }
  });

  test('R66 R01 with the real server, an answer to a form writes the file once, and the journal names the channel', async () => {
    const whole = await sharedStage();
    const client = await clientAt(whole.server, { person: () => accept() });
    const execution = await client.session.callTool(DELEGATE, {
      task: plan(append('test.md', 'hello\n'), { say: 'Done.' }),
      workspace: whole.server.workspace,
    });
    const { outcome } = await execution.settle();
    expect(report.parse(resultFromTaskOutcome(outcome)).structuredContent).toMatchObject({
      state: 'completed',
    });
    expect(await whole.file('test.md')).toBe('hello\n');
    const { calls, sessionId } = report.parse(resultFromTaskOutcome(outcome)).structuredContent;
    const [{ callId } = { callId: '' }] = z.array(z.looseObject({ callId: z.string() })).parse(calls);
    const again = await client.ask('tools/call', {
      name: DECIDE,
      arguments: { sessionId, callId, shown: 'long decided', decision: 'deny' },
    });
    expect(JSON.stringify(again.result)).toMatch(
      /decided before: approved by [^.]+ in a form of the MCP client/,
    );
  });
});

async function look(client: TasksClient, taskId: string): Promise<z.infer<typeof detailed>> {
  const { result, error } = await client.ask('tasks/get', { taskId });
  expect(error).toBeUndefined();
  return detailed.parse(result);
}

/** Decides the action of `asks`. */
function decideWithTool(client: TasksClient, sessionId: string, decision: 'approve' | 'deny') {
  const action = { title: 'Write one.md', callId: 'one', shown: 'hash-of-one' };
  return client.ask('tools/call', { name: DECIDE, arguments: { sessionId, ...action, decision } });
}

async function delegated(client: TasksClient, task = 'do it'): Promise<string> {
  const execution = await client.session.callTool(DELEGATE, { task });
  if (execution.kind !== 'task') throw new Error('no task');
  const { taskId } = execution.handle;
  await execution.detach();
  return taskId;
}
