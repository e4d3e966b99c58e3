import { describe, expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import { FakeTask, pendingWrite } from '../../support/fake-agent-task.ts';
import { rowIn, rowsIn } from '../../support/bridge-database.ts';
import {
  CHECK,
  DELEGATE,
  LIST,
  WAIT,
  closeAfterTest,
  startAgent,
  startClient,
  stateDirectory,
  onOwnBridge,
} from './support/bridge-stage.ts';
import { textOf, type ToolResult } from './support/raw-client.ts';

/** Resolves when the bridge has put the result of this task into the inbox. */
const resultStored = (stateDir: string, taskId: string): Promise<void> =>
  rowIn(stateDir, `SELECT 1 FROM delegations WHERE task_id = '${taskId}' AND ended IS NOT NULL`);

const OPEN = `SELECT task_id FROM delegations WHERE state = 'accepted'`;

const announcedIn = (result: ToolResult): unknown => result.structuredContent?.['waitingResults'];

describe('results that no client has collected', () => {
  test('R68 the bridge announces a result once, with its next result, and keeps it until a client collects it', async () => {
    const { agent, stateDir, client, again } = await onOwnBridge({ onMessage: (task) => task.work() });
    const handle = await client.call(DELEGATE, { task: 'walk away', waitSeconds: 0 });
    expect(announcedIn(handle)).toBeUndefined();
    agent.task.say('done').complete();
    await resultStored(stateDir, 'task-1');

    const next = await client.call('get_agent_capabilities_and_version', {});
    expect(announcedIn(next)).toEqual([
      { sessionId: 'session-1', taskId: 'task-1', agent: 'agent', state: 'completed', title: 'walk away' },
    ]);
    expect(textOf(next)).toMatch(/^Results that nobody has read yet.*wait_for_task.*\n- session session-1 /);
    expect(textOf(next)).toContain('mcp-a2a-bridge');

    const after = await client.call(LIST, {});
    expect(announcedIn(after)).toBeUndefined();
    expect(textOf(after)).toMatch(/^Sessions/);
    expect(await rowsIn(stateDir, OPEN)).toEqual([['task-1']]);

    const collected = await client.call(WAIT, { sessionId: 'session-1' });
    expect(collected.structuredContent).toMatchObject({ state: 'completed', output: 'done' });
    expect(await client.close()).toBe(0);
    expect(await rowsIn(stateDir, OPEN)).toEqual([]);
    const third = await again();
    expect(announcedIn(await third.call(LIST, {}))).toBeUndefined();
  });

  test('a status call sends one request to the agent, and the announcements use the same response', async () => {
    const { agent, client } = await onOwnBridge({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
    });
    await client.call(DELEGATE, { task: 'ask me' });
    const before = agent.count('GetTask');

    const status = await client.call(CHECK, { sessionId: 'session-1' });

    expect(status.structuredContent).toMatchObject({ state: 'input_required' });
    expect(agent.count('GetTask') - before).toBe(1);
  });

  test('R97 prompts and resources announce results too, and the prompt review_pending contains the preview of the pending action', async () => {
    const stateDir = await stateDirectory();
    let tasks = 0;
    const agent = await startAgent({
      onMessage: (task) => ((tasks += 1) === 1 ? task.work().ask(pendingWrite('one')) : task.work()),
    });
    const first = await startClient(agent, { stateDir });
    await first.call(DELEGATE, { task: 'ask me', waitSeconds: 0 });
    await first.call(DELEGATE, { task: 'walk away', waitSeconds: 0 });
    [...agent.tasks.values()].at(-1)?.say('done').complete();
    await resultStored(stateDir, 'task-2');

    const second = await startClient(agent, { stateDir });
    const prompt = JSON.stringify(await second.request('prompts/get', { name: 'review_pending' }));
    expect(prompt).toMatch(
      /"text":"Results that nobody has read yet.*walk away.*\+hello.*approve hash-of-one/,
    );

    const third = await startClient(agent, { stateDir });
    const uri = 'task://agent/session-1/task-1/diff';
    const read = JSON.stringify(await third.request('resources/read', { uri }));
    expect(read).toMatch(
      /"contents":\[\{"uri":"task:\/\/agent\/session-1\/task-1\/diff".*Results that nobody has read yet.*walk away/,
    );
  });

  test('R68 B3 if the delegating bridge has ended, the next bridge announces the result', async () => {
    const { agent, client: first, again } = await onOwnBridge({ onMessage: (task) => task.work() });
    await first.call(DELEGATE, { task: 'outlive me', waitSeconds: 0 });
    await first.close();
    agent.task.say('done').complete();

    const second = await again();
    // If the request to the agent takes long, a later response contains the announcement.
    let told: unknown;
    while (told === undefined)
      told = announcedIn(await second.call('get_agent_capabilities_and_version', {}));
    expect(told).toMatchObject([{ sessionId: 'session-1', title: 'outlive me' }]);
    await second.kill();

    // No client has collected the result, so a third bridge announces it too.
    const third = await again();
    expect(announcedIn(await third.call(LIST, {}))).toMatchObject([{ sessionId: 'session-1' }]);
    expect(announcedIn(await third.call(LIST, {}))).toBeUndefined();
    const result = await third.call(WAIT, { sessionId: 'session-1' });
    expect(result.structuredContent).toMatchObject({ output: 'done' });
  });

  test('R68 B3 the next bridge announces the result even if another client has continued the session', async () => {
    const { agent, stateDir, client: first, again } = await onOwnBridge({ onMessage: (task) => task.work() });
    await first.call(DELEGATE, { task: 'outlive me', waitSeconds: 0 });
    await first.close();
    agent.task.say('done').complete();
    agent.tasks.set('task-2', new FakeTask('task-2', 'session-1', true).work());

    const second = await again();
    const early = announcedIn(await second.call('get_agent_capabilities_and_version', {}));
    await rowIn(stateDir, `SELECT 1 FROM delegations WHERE ended IS NOT NULL`);
    expect(early ?? announcedIn(await second.call(LIST, {}))).toMatchObject([
      { taskId: 'task-1', state: 'completed', title: 'outlive me' },
    ]);
  });

  test('R68 every bridge of the user announces a result, until one of them has delivered it', async () => {
    const { agent, stateDir, client: mine, again } = await onOwnBridge({ onMessage: (task) => task.work() });
    const other = await again();
    const third = await again();
    await mine.call(DELEGATE, { task: 'either', waitSeconds: 0 });
    agent.task.say('done').complete();
    await resultStored(stateDir, 'task-1');
    expect(announcedIn(await other.call(LIST, {}))).toMatchObject([{ sessionId: 'session-1' }]);
    expect(announcedIn(await mine.call(LIST, {}))).toMatchObject([{ sessionId: 'session-1' }]);
    await other.call(WAIT, { sessionId: 'session-1' });
    expect(await other.close()).toBe(0);
    expect(announcedIn(await third.call(LIST, {}))).toBeUndefined();
  });

  test('R68 the bridge does not announce a result for which a call waits', async () => {
    const { agent, client } = await onOwnBridge({ onMessage: (task) => task.work() });
    const waited = client.call(DELEGATE, { task: 'wait for it' });
    await agent.asked('SendStreamingMessage');
    agent.task.say('done').complete();
    const done = await waited;
    expect(done.structuredContent).toMatchObject({ output: 'done' });
    expect(announcedIn(done)).toBeUndefined();
    expect(announcedIn(await client.call(LIST, {}))).toBeUndefined();
  });

  test('R68 the bridge announces the end of a task after another channel has decided its action', async () => {
    const { agent, client } = await onOwnBridge({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
    });
    await client.call(DELEGATE, { task: 'ask elsewhere' });
    agent.task.work().say('written').complete();
    // The task's stream may still show the earlier state at the first call.
    let told: unknown;
    while (told === undefined) told = announcedIn(await client.call(LIST, {}));
    expect(told).toMatchObject([{ sessionId: 'session-1', state: 'completed' }]);
  });

  test('R68 an agent that accepts connections and never responds delays one response for a short time, and no later one', async () => {
    const stateDir = await stateDirectory();
    const agent = await startAgent({ onMessage: (task) => task.work() });
    const { port } = agent;
    const first = await startClient(agent, { stateDir });
    await first.call(DELEGATE, { task: 'go silent', waitSeconds: 0 });
    await first.kill();
    await agent.stop();
    let abandoned = 0;
    const silent = createServer((socket) => socket.resume().on('close', () => (abandoned += 1)));
    await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
    closeAfterTest(() => silent.close());
    const client = await startClient({ url: `http://127.0.0.1:${String(port)}` }, { stateDir });
    for (let call = 0; call < 2; call += 1)
      expect(textOf(await client.call('abort_tool_execution', { toolId: '' }))).toContain('is not the id');
    // Both calls have returned before the bridge's request to the agent timed out.
    expect(abandoned).toBe(0);
  });

  test('R68 if many results wait, a response lists the ten newest and counts the others', async () => {
    const { agent, stateDir, client } = await onOwnBridge({ onMessage: (task) => task.work() });
    for (let index = 0; index < 13; index += 1)
      await client.call(DELEGATE, { task: `job ${String(index)}`, waitSeconds: 0 });
    for (const task of agent.tasks.values()) task.say('done').complete();
    for (const taskId of agent.tasks.keys()) await resultStored(stateDir, taskId);
    const next = await client.call(LIST, {});
    expect(announcedIn(next)).toHaveLength(10);
    expect(textOf(next)).toContain('… and 3 more: list_all_active_sessions has them.');
    expect(announcedIn(await client.call(LIST, {}))).toBeUndefined();
  });
});
