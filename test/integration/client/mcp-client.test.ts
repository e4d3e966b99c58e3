import { Deferred } from '../../../shared/runtime/deferred.ts';
import { actionOf } from '../../support/a2a-message.ts';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { McpClient, type McpClientOptions, type ToolUpdate } from '../../../shared/client/index.ts';
import { stage, type Stage } from '../../support/stage.ts';
import { startHttp } from '../bridge/support/bridge-stage.ts';
import type { HttpBridge } from '../bridge/support/http-bridge.ts';
import { CuttingFetch } from './support/cutting-fetch.ts';
import { Watched } from './support/watched.ts';
import { makeGate } from '../../support/gate.ts';
import { askPerson, plan, shell, write } from '../../support/offline-plan.ts';
import { openPages } from '../../support/web-site.ts';

const QUICK = { firstMs: 1, mostMs: 20 };
const LONG = (name: string): string => `run \`echo ${name} runs; sleep 600\``;

interface Open extends Stage {
  bridge: HttpBridge;
  client: McpClient;
}

let staged: Stage;
let sharedBridge: HttpBridge;
beforeAll(async () => {
  staged = await stage();
  sharedBridge = await startHttp(staged.server);
});
afterEach(async () => {
  const { workspace } = staged.server;
  for (const name of await readdir(workspace))
    await rm(join(workspace, name), { recursive: true, force: true });
});

/** @returns a new client, on the bridge and the server of the tests that neither configure nor end them */
function onShared(): Open {
  return { ...staged, bridge: sharedBridge, client: clientOf(sharedBridge) };
}

/** @returns a new client with its own bridge, on its own server or that of the other tests */
async function open(
  options: Partial<McpClientOptions> = {},
  args: string[] = [],
  own: Stage = staged,
): Promise<Open> {
  const bridge = await startHttp(own.server, { args });
  return { ...own, bridge, client: clientOf(bridge, options) };
}

function clientOf({ url, token }: HttpBridge, options: Partial<McpClientOptions> = {}): McpClient {
  return new McpClient({ url, token, retryPolicy: QUICK, statusIntervalMs: 50, ...options });
}

describe('the client library for the bridge, over MCP', () => {
  test('a delegated task waits, is approved, and completes, and the client gets progress', async () => {
    const { client, file, server } = onShared();
    const watched = new Watched();
    const execution = client.start(
      { text: 'create test.md with hello', workspace: server.workspace },
      { onProgress: watched.see },
    );
    const { pending } = await watched.state('waiting');
    expect(pending).toEqual([
      expect.objectContaining({
        tool: 'write-file',
        preview: { type: 'text', text: expect.stringContaining('+hello') },
        decisions: ['approve', 'deny', 'edit'],
      }),
    ]);
    await execution.decide({ ...actionOf(pending), decision: 'approve', scope: 'tool' });
    await expect(execution.result).resolves.toMatchObject({ state: 'completed', pending: [] });
    expect(await file('test.md')).toBe('hello');
    expect(client.active).toEqual([]);
    await client.close();
  });

  test('the person answers a question with one of its choices', async () => {
    const { client, server } = onShared();
    const watched = new Watched();
    const execution = client.start(
      { text: plan(askPerson('Which colour?', ['red', 'blue'])), workspace: server.workspace },
      { onProgress: watched.see },
    );
    const { pending } = await watched.state('waiting');
    expect(pending).toMatchObject([{ reason: 'question', decisions: ['answer', 'deny'] }]);
    await execution.decide({ ...actionOf(pending), decision: 'answer', answer: 'blue' });
    await expect(execution.result).resolves.toMatchObject({ output: expect.stringContaining('blue') });
    await client.close();
  });

  test('the client notices a decision over another channel; the client’s own later decision is refused', async () => {
    const { client, peer, server } = onShared();
    const watched = new Watched();
    const execution = client.start(
      { text: 'create test.md with hello', workspace: server.workspace },
      { onProgress: watched.see },
    );
    const { pending, taskId } = await watched.state('waiting');
    const { callId, shown } = actionOf(pending);
    const stream = await peer.decide(taskId ?? '', [{ callId, shown, decision: 'deny' }]);
    await stream.rest();
    await expect(execution.result).resolves.toMatchObject({ state: 'completed' });
    await expect(execution.decide({ callId, shown, decision: 'approve' })).rejects.toMatchObject({
      code: 'refused',
    });
  });

  test('R40 R41 R42 the client lists running executions; an abort stops only its own execution; a second abort reports that it had no effect', async () => {
    const { client, server, peer } = onShared();
    const started = ['one', 'two'].map((name) => {
      const watched = new Watched();
      const execution = client.start(
        { text: LONG(name), autoExecute: true, workspace: server.workspace },
        { onProgress: watched.see },
      );
      return { execution, running: underWay(peer, watched, name) };
    });
    await Promise.all(started.map(({ running }) => running));
    const tools = await client.tools();
    expect(tools.map(({ tool }) => tool)).toEqual(['run-shell-command', 'run-shell-command']);
    const first = tools.find(({ sessionId }) => sessionId === started[0]?.execution.report?.sessionId);
    const toolId = first?.toolId ?? '';
    expect(await client.abortTool(toolId, 'enough of it')).toMatchObject({ success: true });
    await started[0]?.execution.result;
    expect(await client.tools()).toHaveLength(1);
    expect(await client.abortTool(toolId)).toMatchObject({ success: false });
    expect(await client.abortTool('../unknown')).toMatchObject({ success: false });
    expect(await client.abortAllTools()).toEqual([expect.objectContaining({ success: true })]);
    await started[1]?.execution.result;
    expect(await client.tools()).toEqual([]);
  });

  test('a task’s report lists its running tools with their ids for an abort, and progress arrives at once', async () => {
    const { client, server, peer } = onShared();
    const watched = new Watched();
    const execution = client.start(
      { text: LONG('one'), autoExecute: true, workspace: server.workspace },
      { onProgress: watched.see },
    );
    await underWay(peer, watched, 'one');
    const runs = await watched.running();
    expect(runs.tools).toMatchObject([{ tool: 'run-shell-command' }]);
    expect(client.getActiveExecutions()).toEqual(runs.tools);
    // A client that attaches later gets the report without waiting for the next step.
    const late = new Watched();
    const attached = client.attach({ sessionId: runs.sessionId }, { onProgress: late.see });
    await late.note(/running: /);
    const [{ toolId } = { toolId: '' }] = client.getActiveExecutions();
    expect(await client.abortTool(toolId, 'enough')).toMatchObject({ success: true });
    const both = await Promise.all([execution.result, attached.result]);
    expect(both).toMatchObject([{ state: 'completed' }, { state: 'completed' }]);
    expect(client.getActiveExecutions()).toEqual([]);
    await client.close();
  });

  test('executeTool calls one tool and reports progress; getActiveExecutions lists the call; abortAllRequests ends all other requests', async () => {
    const site = await openPages({
      '/': '<title>Start</title><p>Extract content here.</p><a href="/slow">slow</a>',
      '/slow': (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'text/html' }).write('<p>'),
    });
    const { client } = await open(
      {},
      [],
      await stage({ args: ['--allow-private-host', site.host, '--mode', 'auto'] }),
    );
    const read = await client.executeTool('list-files', { path: '.' });
    expect(read).toMatchObject({ state: 'completed', tools: [] });

    const input = { url: `${site.origin}/`, query: 'extract content', maxPages: 10 };
    const second = new Deferred<ToolUpdate>();
    const crawl = client.executeTool('crawl', input, {
      onProgress: (update) => update.progress === 2 && second.resolve(update),
    });
    const update = await second.promise;
    expect(update).toMatchObject({ message: expect.stringContaining('page 2 of 10: '), total: 10 });
    const [running] = client.getActiveExecutions();
    expect(running).toMatchObject({ tool: 'crawl', toolId: update.toolId });
    expect(await client.abortTool(running?.toolId ?? '')).toEqual({
      success: true,
      message: `Successfully aborted tool execution: ${running?.toolId ?? ''}`,
    });
    await expect(crawl).resolves.toMatchObject({ state: 'failed' });

    const long = client.executeTool('wait', { seconds: 600 }, { onProgress: () => undefined });
    await client.abortAllRequests('the person left');
    await expect(long).resolves.toMatchObject({
      state: 'canceled',
      message: expect.stringContaining('the person left'),
    });
    await client.close();
  });

  test('after a session revokes its trust, the next call of the tool waits again', async () => {
    const { client, file, server } = onShared();
    const watched = new Watched();
    const execution = client.start(
      {
        text: plan(write('a.txt', 'a'), write('b.txt', 'b'), askPerson('More?', ['no']), write('c.txt', 'c')),
        workspace: server.workspace,
      },
      { onProgress: watched.see },
    );
    const { pending } = await watched.state('waiting');
    await execution.decide({ ...actionOf(pending), decision: 'approve', scope: 'tool' });
    const asks = await watched.asking('ask-person');
    await execution.revoke();
    await expect(execution.revoke(['g9'])).rejects.toMatchObject({ code: 'refused' });
    await execution.decide({ ...actionOf(asks.pending), decision: 'answer', answer: 'no' });
    const { callId, shown } = await watched.until((progress) =>
      progress.type === 'state'
        ? progress.report.pending.find(({ title }) => title.includes('c.txt'))
        : undefined,
    );
    await execution.decide({ callId, shown, decision: 'deny' });
    await execution.result;
    expect([await file('b.txt'), await file('c.txt')]).toEqual(['b', undefined]);
    await client.close();
  });

  test('R61 aborting the signal cancels the agent’s task and its tools; cancelAll cancels all other tasks of the client', async () => {
    const { client, server, peer } = onShared();
    const controller = new AbortController();
    const begin = (name: string, signal?: AbortSignal) => {
      const watched = new Watched();
      const execution = client.start(
        { text: LONG(name), autoExecute: true, workspace: server.workspace },
        { signal, onProgress: watched.see },
      );
      return { execution, running: underWay(peer, watched, name) };
    };
    const [first, second] = [begin('one', controller.signal), begin('two')];
    await Promise.all([first.running, second.running]);
    controller.abort('the person pressed stop');
    const { state, taskId } = await first.execution.result;
    expect(state).toBe('canceled');
    expect((await peer.task(taskId ?? '')).statusText).toContain('the person pressed stop');
    await client.cancelAll();
    await expect(second.execution.result).resolves.toMatchObject({ state: 'canceled' });
  });

  test('R48 aborting the signal of a plain call ends the call at once; its task continues, and the client can return to the session', async () => {
    const { client, server, bridge } = await open({}, ['--log-level', 'info']);
    const gate = await makeGate(server.workspace);
    const controller = new AbortController();
    const watched = new Watched();
    const args = {
      task: plan(shell(gate.wait), { say: 'done' }),
      autoExecute: true,
      workspace: server.workspace,
    };
    const call = client.call('delegate_task_to_assistant', args, {
      signal: controller.signal,
      onProgress: (message) => watched.see({ type: 'note', message }),
    });
    await watched.note(/ runs: /);
    controller.abort('the page has changed its mind');
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    await bridge.logged(/the page has changed its mind/);
    await gate.pass();
    const listed = await client.call('list_all_active_sessions');
    const [session] = sessionsIn(listed.structuredContent);
    await expect(client.attach({ sessionId: session ?? '' }).result).resolves.toMatchObject({
      state: 'completed',
      output: expect.stringContaining('done'),
    });
  });

  test('R64 while a task waits, the client requests lost responses again, but does not repeat the delegating call', async () => {
    const cutting = new CuttingFetch();
    const { client, server } = await open({ fetch: cutting.fetch });
    let posts = 0;
    // The requests are initialize, initialized and delegate. After them every other answer is lost.
    cutting.cutAfter = () => ((posts += 1) > 3 && posts % 2 === 0 ? 0 : undefined);
    const watched = new Watched();
    const gate = await makeGate(server.workspace);
    const request = { text: plan(shell(gate.wait)), autoExecute: true, workspace: server.workspace };
    const execution = client.start(request, { onProgress: watched.see });
    // The task runs until an answer was lost.
    await watched.until(({ type }) => (type === 'reconnecting' ? true : undefined));
    await gate.pass();
    expect((await execution.result).state).toBe('completed');
    const connection = watched.told.map(({ type }) => type).filter((type) => type.startsWith('reconnect'));
    expect(connection).toContain('reconnecting');
    // Each lost connection works again later.
    expect(connection.at(-1)).toBe('reconnected');
    cutting.cutAfter = () => 0;
    const asked = cutting.asked.length;
    await expect(client.start(request).result).rejects.toMatchObject({
      code: 'outcome-unknown',
      retryable: false,
    });
    expect(cutting.asked.length).toBe(asked + 1);
  });

  test('after a restart of the bridge, the client initializes it again, and the task’s state is the same', async () => {
    const { client, bridge, server } = await open();
    const watched = new Watched();
    const retryPolicy = { ...QUICK, attempts: 200, mostMs: 100 };
    const patient = new McpClient({
      url: bridge.url,
      token: bridge.token,
      retryPolicy,
      statusIntervalMs: 50,
    });
    const execution = patient.start(
      { text: 'create test.md with hello', workspace: server.workspace },
      { onProgress: watched.see },
    );
    const { pending } = await watched.state('waiting');
    await bridge.kill();
    await expect(client.tools()).rejects.toMatchObject({ code: 'unreachable' });
    await startHttp(server, { stateDir: bridge.stateDir, port: Number(new URL(bridge.url).port) });
    await execution.decide({ ...actionOf(pending), decision: 'approve' });
    await expect(execution.result).resolves.toMatchObject({ state: 'completed' });
  });

  test('the client works with a prefix before tool names; an unknown session and a wrong token give errors with names', async () => {
    const { client, bridge } = await open(
      { toolPrefix: 'gemini_' },
      ['--tool-prefix', 'gemini_'],
      await stage(),
    );
    expect(await client.tools()).toEqual([]);
    await expect(client.attach({ sessionId: 'unknown' }).result).rejects.toMatchObject({
      code: 'refused',
      reason: 'UNKNOWN_SESSION',
    });
    const stranger = new McpClient({ url: bridge.url, token: 'wrong-token-0123456789' });
    await expect(stranger.tools()).rejects.toMatchObject({ code: 'refused', status: 401 });
  });
});

/** Resolves at the command's first output, also if the output came before this client waited. */
async function underWay(peer: Stage['peer'], watched: Watched, name: string): Promise<void> {
  const { taskId } = await watched.state('working');
  const stream = await peer.follow(taskId ?? '', 0);
  await stream.output(`${name} runs`);
  stream.connection.destroy();
}

function sessionsIn(structured: unknown): string[] {
  const sessions: unknown = Object(structured)['sessions'];
  return Array.isArray(sessions) ? sessions.map((each) => String(Object(each)['sessionId'])) : [];
}
