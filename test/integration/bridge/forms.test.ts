/** Tests actions that are too long for a form (D5), and actions that another channel decides (R97). */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { FakeAgentReactions } from '../../support/fake-agent.ts';
import { type FakeTask, pendingWrite } from '../../support/fake-agent-task.ts';
import { signal } from '../../support/signal.ts';
import { DELEGATE, FAST_ANSWERS, WAIT, bridgeStart, program, shared } from './support/bridge-stage.ts';
import { FORM_CLIENTS, type FormClient, type Person, textOf } from './support/form-client.ts';
import { type TasksClient, tasksClient } from './support/tasks-client.ts';

const WRITE = { callId: 'one', tool: 'write-file', title: 'Write one.md' };

/** An action with a command of forty lines. */
const LONG = pendingWrite('one', {
  tool: 'run-shell-command',
  title: 'Run a long script',
  preview: { type: 'command', command: 'echo x\n'.repeat(40).trimEnd(), cwd: '/w' },
});

function asking(action = LONG, reactions: FakeAgentReactions = {}): FakeAgentReactions {
  return {
    onMessage: (task) => task.work().ask(action),
    onDecisions: (task, [decision]) => task.work().say(`decided ${decision?.decision}`).complete(),
    ...reactions,
  };
}

/** Decides like a person on the server's page. */
function decideOnPage(task: FakeTask, decision: 'approve' | 'deny'): void {
  task.activity({ type: 'tool.decided', ...WRITE, decision, by: 'alice', channel: 'page' });
  task.work().say(`${decision} on the page`).complete();
}

const urlForm = z.looseObject({ mode: z.literal('url'), url: z.string(), message: z.string() });

describe.each(FORM_CLIENTS)('%s', (_, connect, { holds }) => {
  let person: Person;
  const onBridge = (urls: boolean): ReturnType<typeof shared<FormClient>> =>
    shared(
      async (agent) => {
        const start = await bridgeStart(agent, { args: FAST_ANSWERS });
        return connect(program, start, (form, taken) => person(form, taken), { urls });
      },
      (client) => client.close(),
    );
  const [withUrls, withoutUrls] = [onBridge(true), onBridge(false)];

  test('D5 if an action is too long for a form, the form links to the page; the person decides there, and the call continues', async () => {
    const { agent, bridge: client } = await withUrls(asking(LONG, { pageLinksMs: 600_000 }));
    person = (form) => {
      const { url, message } = urlForm.parse(form);
      expect(url).toBe(`${agent.url}/page#code=1`);
      expect(message).toMatch(/^Run a command of 40 lines\nToo long here\. Decide on the page/);
      expect(JSON.stringify(form)).not.toContain('echo x');
      void agent.asked('subscribe').then(() => decideOnPage(agent.task, 'approve'));
      return { action: 'accept' };
    };
    const done = await client.call(DELEGATE, { task: 'do it' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'approve on the page' });
    expect(textOf(done)).not.toContain('page#code');
    expect(agent.decisions).toEqual([]);
    expect(agent.pageTargets).toEqual([{ taskId: agent.task.id, callId: 'one', shown: 'hash-of-one' }]);
  });

  test('D5 if the person declines the link to the page, the action is denied', async () => {
    const { bridge: client } = await withUrls(asking(LONG, { pageLinksMs: 600_000 }));
    person = () => ({ action: 'decline' });
    const done = await client.call(DELEGATE, { task: 'do it' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'decided deny' });
  });

  test('D5 if the person opens the page and does not decide there, the action stays pending', async () => {
    const { agent, bridge: client } = await withUrls(asking(LONG, { pageLinksMs: 600_000 }));
    person = () => ({ action: 'accept' });
    let asked = await client.call(DELEGATE, { task: 'do it', waitSeconds: 1 });
    const sessionId = asked.structuredContent?.sessionId;
    // On a busy machine, the time of a call may end before the person has opened the page.
    while (!/opened the page, and has not decided there yet/.test(textOf(asked)))
      asked = await client.call(WAIT, { sessionId, waitSeconds: 1 });
    expect(asked.structuredContent).toMatchObject({ state: 'input_required' });
    expect(agent.decisions).toEqual([]);
  });

  test.each<[string, boolean, FakeAgentReactions]>([
    ['a client that opens no URLs', false, { pageLinksMs: 600_000 }],
    ['an agent without a page', true, {}],
  ])(
    'D5 with %s the bridge shows no form, and the result names the command line for the decision',
    async (__, urls, options) => {
      const { agent, bridge: client } = await (urls ? withUrls : withoutUrls)(asking(LONG, options));
      person = unasked;
      const asked = await client.call(DELEGATE, { task: 'do it' });
      expect(asked.structuredContent).toMatchObject({ state: 'input_required' });
      expect(textOf(asked)).toMatch(
        /`mcp-a2a-bridge show \S+` and approve it with `mcp-a2a-bridge approve \S+`/,
      );
      expect(agent.decisions).toEqual([]);
    },
  );

  test('R97 if another channel decides first, the bridge withdraws the form, or the result says that the form’s answer did not count', async () => {
    const { agent, bridge: client } = await withUrls(asking(pendingWrite('one')));
    const shown = signal();
    const withdrawn = signal();
    const answering = signal();
    person = async (_form, taken) => {
      taken.addEventListener('abort', withdrawn.happen);
      shown.happen();
      await answering.happened;
      return { action: 'accept', content: {} };
    };
    const call = client.call(DELEGATE, { task: 'do it' });
    await shown.happened;
    if (holds) await agent.asked('subscribe');
    decideOnPage(agent.task, 'deny');
    if (holds) await withdrawn.happened;
    answering.happen();
    const done = await call;
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'deny on the page' });
    if (!holds) expect(textOf(done)).toMatch(/An answer in a form did not count/);
    expect(agent.decisions).toEqual([]);
  });
});

const onTasksBridge = (urls: boolean): ReturnType<typeof shared<TasksClient>> =>
  shared(
    async (agent) => tasksClient(program, await bridgeStart(agent, { args: FAST_ANSWERS }), { urls }),
    (client) => client.close(),
  );

describe('forms in MCP tasks', () => {
  const [withUrls, withoutUrls] = [onTasksBridge(true), onTasksBridge(false)];
  const detailed = z.looseObject({
    status: z.string(),
    pollIntervalMs: z.number(),
    inputRequests: z
      .record(z.string(), z.looseObject({ params: z.looseObject({ message: z.string() }) }))
      .optional(),
    result: z.looseObject({ content: z.array(z.looseObject({ text: z.string() })) }).optional(),
  });
  type Detailed = z.infer<typeof detailed>;

  async function look(client: TasksClient, taskId: string): Promise<Detailed> {
    const { result, error } = await client.ask('tasks/get', { taskId });
    expect(error).toBeUndefined();
    return detailed.parse(result);
  }

  /** Delegates, and polls until the status is no longer "working". */
  async function delegated(client: TasksClient): Promise<{ taskId: string; task: Detailed }> {
    const execution = await client.session.callTool(DELEGATE, { task: 'do it' });
    if (execution.kind !== 'task') throw new Error('no task');
    const { taskId } = execution.handle;
    await execution.detach();
    let task = await look(client, taskId);
    while (task.status === 'working') task = await look(client, taskId);
    return { taskId, task };
  }

  test('D5 every poll of an action that is too long for a form has the same link, until the person opens the page', async () => {
    const { agent, bridge: client } = await withUrls(asking(LONG, { pageLinksMs: 600_000 }));
    const { taskId, task } = await delegated(client);
    const [[key, form] = ['', undefined]] = Object.entries(task.inputRequests ?? {});
    expect(urlForm.parse(form?.params).url).toBe(`${agent.url}/page#code=1`);
    expect((await look(client, taskId)).inputRequests).toEqual(task.inputRequests);
    await update(client, taskId, { [key]: { action: 'accept' } });
    expect(await look(client, taskId)).toMatchObject({ status: 'working' });
    decideOnPage(agent.task, 'approve');
    let done = await look(client, taskId);
    while (done.status === 'working') done = await look(client, taskId);
    expect(done).toMatchObject({
      status: 'completed',
      result: { structuredContent: { state: 'completed' } },
    });
    expect(JSON.stringify(done)).not.toContain('page#code');
    expect(agent.decisions).toEqual([]);
  });

  test('D5 after a link has expired, the bridge requests a new link from the server', async () => {
    const { agent, bridge: client } = await withUrls(asking(LONG, { pageLinksMs: 1 }));
    const { task } = await delegated(client);
    // Each link expires at once. So the bridge requests a new link at each poll, and never has a valid one to show.
    expect(task.status).toBe('completed');
    expect(agent.count('/page/links')).toBeGreaterThan(1);
  });

  test.each<[string, boolean, FakeAgentReactions]>([
    ['a client that opens no URLs', false, { pageLinksMs: 600_000 }],
    ['an agent without a page', true, {}],
  ])(
    'D5 with %s the MCP task ends, and its result shows the pending action and names the command line',
    async (_, urls, options) => {
      const { bridge: client } = await (urls ? withUrls : withoutUrls)(asking(LONG, options));
      const { task } = await delegated(client);
      expect(task).toMatchObject({
        status: 'completed',
        result: { structuredContent: { state: 'input_required' } },
      });
      expect(task.result?.content[0]?.text).toMatch(/`mcp-a2a-bridge approve \S+`/);
    },
  );

  test('R97 a decision on the page removes the form; a later answer in the form has no effect, and the result says so', async () => {
    const { agent, bridge: client } = await withUrls(asking(pendingWrite('one')));
    const { taskId, task } = await delegated(client);
    expect(task.pollIntervalMs).toBeLessThanOrEqual(500);
    const [key = ''] = Object.keys(task.inputRequests ?? {});
    agent.task.activity({ type: 'tool.decided', ...WRITE, decision: 'deny', by: 'alice', channel: 'page' });
    agent.task.work();
    const after = await look(client, taskId);
    expect(after).toMatchObject({ status: 'working' });
    expect(after.inputRequests).toBeUndefined();
    const late = await update(client, taskId, { [key]: { action: 'accept', content: {} } });
    expect(late.error).toBeUndefined();
    agent.task.say('went on').complete();
    let done = await look(client, taskId);
    while (done.status === 'working') done = await look(client, taskId);
    expect(done).toMatchObject({ status: 'completed' });
    expect(done.result?.content[0]?.text).toMatch(/Note: An answer in .* did not count/);
    expect(agent.decisions).toEqual([]);
  });

  test('R97 if the client sends an accepted answer twice, the result does not say that the answer was ignored', async () => {
    const reactions = asking(pendingWrite('one'), {
      onDecisions: (task) => {
        task.activity({
          type: 'tool.decided',
          ...WRITE,
          decision: 'approve',
          by: 'alice',
          channel: 'task-form',
        });
        task.work().say('went on').complete();
      },
    });
    const { agent, bridge: client } = await withUrls(reactions);
    const { taskId, task } = await delegated(client);
    const [key = ''] = Object.keys(task.inputRequests ?? {});
    for (const _ of [1, 2]) await update(client, taskId, { [key]: { action: 'accept', content: {} } });
    expect(JSON.stringify(await look(client, taskId))).not.toContain('did not count');
    expect(agent.decisions).toHaveLength(1);
  });
});

const unasked: Person = () => {
  throw new Error('a form was shown');
};

function update(client: TasksClient, taskId: string, inputResponses: object): ReturnType<TasksClient['ask']> {
  return client.ask('tasks/update', { taskId, inputResponses });
}
