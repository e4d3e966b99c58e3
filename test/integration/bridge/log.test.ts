/** Tests the log lines of the bridge about its sessions. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import type { FakeTask } from '../../support/fake-agent-task.ts';
import { actionOf } from '../../support/a2a-message.ts';
import { stage } from '../../support/stage.ts';
import {
  APPROVE_ONE,
  CANCEL,
  DECIDE,
  DELEGATE,
  startAgent,
  startClient,
  startHttp,
} from './support/bridge-stage.ts';
import { ask, INITIALIZE, MCP_HEADERS } from './support/http-bridge.ts';

const line = z.looseObject({ time: z.number(), msg: z.string() });

const linesOf = (log: string) =>
  log
    .trim()
    .split('\n')
    .map((each) => line.parse(JSON.parse(each)));

/** Returns the log lines with one of these messages, in order. */
const linesAbout = (log: string, ...messages: string[]) =>
  linesOf(log).filter(({ msg }) => messages.includes(msg));

test('the log has one line for each state of a session, with the ids of session, task and calls, and without text', async () => {
  const agent = await startAgent({
    onMessage: (task) => task.work().ask(pendingWrite('one')),
    onDecisions: (task) => task.work().say('SECRET').complete(),
  });
  const client = await startClient(agent, { args: ['--log-level', 'info'] });
  const { structuredContent } = await client.call(DELEGATE, { task: 'SECRET work' });
  const sessionId = structuredContent?.['sessionId'];
  await client.call(DECIDE, { sessionId, ...APPROVE_ONE });
  await client.logged(/"state":"completed"/);
  const states = linesAbout(client.stderr, 'the state of a session');
  expect(states.at(-1)).toMatchObject({ sessionId, taskId: expect.any(String), state: 'completed' });
  expect(states).toContainEqual(expect.objectContaining({ state: 'input-required', callIds: ['one'] }));
  expect(client.stderr).not.toContain('SECRET');
});

const report = z.looseObject({
  sessionId: z.string(),
  taskId: z.string(),
  pending: z.array(z.looseObject({ callId: z.string(), shown: z.string() })),
});

test('the log has one line for a decision over this bridge, with its ids and the person’s reason', async () => {
  const { server } = await stage();
  const client = await startClient(server, { args: ['--log-level', 'info'] });
  const asked = await client.call(DELEGATE, { task: 'append "SECRET" to a.txt' });
  const { sessionId, taskId, pending } = report.parse(asked.structuredContent);
  const { callId, shown } = actionOf(pending);
  await client.call(DECIDE, { sessionId, callId, shown, decision: 'deny', reason: 'not today' });
  await client.logged(/a decision was (not )?sent/);
  const ids = { sessionId, taskId, callId, channel: 'tool' };
  expect(linesAbout(client.stderr, 'a decision was sent', 'a decision was not sent')).toMatchObject([
    { ...ids, msg: 'a decision was sent', decision: 'deny', reason: 'not today' },
  ]);
  expect(client.stderr).not.toContain('SECRET');
});

const call = { callId: 'one', tool: 'run-command', title: 'Run it' };
const runs = (task: FakeTask): FakeTask =>
  task.work().activity({ type: 'tool.started', ...call, toolId: 'live-1' });

test('the log has one line for a decision over another channel, with the person who decided and the reason', async () => {
  const decided = { type: 'tool.decided', ...call, decision: 'deny', by: 'ann', channel: 'page' } as const;
  const agent = await startAgent({
    onMessage: (task) =>
      task
        .work()
        .activity({ ...decided, reason: 'not today' })
        .complete(),
  });
  const client = await startClient(agent, { args: ['--log-level', 'info'] });
  await client.call(DELEGATE, { task: 'run' });
  await client.logged(/a person decided/);
  expect(linesAbout(client.stderr, 'a person decided')).toMatchObject([
    { taskId: 'task-1', callId: 'one', decision: 'deny', by: 'ann', channel: 'page', reason: 'not today' },
  ]);
});

test('the log has one line for each abort and each cancel, with ids, reason and outcome', async () => {
  const agent = await startAgent({ onMessage: runs });
  const client = await startClient(agent, { args: ['--log-level', 'info'] });
  const begun = await client.call(DELEGATE, { task: 'run', waitSeconds: 0 });
  const ids = { sessionId: begun.structuredContent?.['sessionId'], taskId: 'task-1' };
  await client.request('tools/abort', { toolId: 'live-1', reason: 'too long' });
  await client.request('tools/abort', { toolId: 'gone-1' });
  await client.call(CANCEL, { sessionId: ids.sessionId, reason: 'the plan has changed' });
  await client.logged(/the outcome of a request to cancel a task/);
  expect(
    linesAbout(
      client.stderr,
      'the outcome of a request to abort a tool',
      'the outcome of a request to cancel a task',
    ),
  ).toMatchObject([
    { toolId: 'live-1', reason: 'too long', success: true },
    { toolId: 'gone-1', reason: 'aborted over MCP', success: false },
    { ...ids, channel: 'mcp', reason: 'the plan has changed' },
  ]);
});

test('S1 the log has a debug line each time a task’s stream opens, breaks, reopens or closes', async () => {
  const agent = await startAgent({ onMessage: (task) => task.work() });
  const client = await startClient(agent, { args: ['--log-level', 'debug'] });
  await client.call(DELEGATE, { task: 'work', waitSeconds: 0 });
  agent.cutStreams();
  await agent.asked('subscribe');
  agent.task.say('more');
  await client.logged(/broke[^]*the stream of a task is open/);
  agent.task.complete();
  await client.logged(/the stream of a task is closed/);
  const ids = { sessionId: 'session-1', taskId: 'task-1' };
  expect(linesOf(client.stderr).filter(({ msg }) => msg.startsWith('the stream of'))).toMatchObject([
    { msg: 'the stream of a task is open' },
    { ...ids, msg: 'the stream of a task broke', reason: expect.stringContaining('broke') },
    { ...ids, msg: 'the stream of a task is open' },
    { ...ids, msg: 'the stream of a task is closed' },
  ]);
});

test('the log has a debug line for the end of each HTTP request, with its message and the reason', async () => {
  const bridge = await startHttp(await startAgent(), { args: ['--log-level', 'debug'] });
  const headers = { ...bridge.credentials, ...MCP_HEADERS };
  const begun = await ask(bridge.url, { headers, body: INITIALIZE });
  const mcpSession = String(begun.headers['mcp-session-id']);
  await ask(new URL('/api/tools/abort/live-1', bridge.url).href, { headers: bridge.credentials });
  const listen = (signal: AbortSignal) =>
    fetch(bridge.url, { headers: { ...headers, 'mcp-session-id': mcpSession }, signal });
  const left = new AbortController();
  await listen(left.signal);
  left.abort();
  await bridge.logged(/"reason":"client-gone"/);
  await listen(new AbortController().signal);
  await bridge.kill('SIGTERM');
  expect(linesAbout(bridge.stderr(), 'a request is closed')).toMatchObject([
    { path: '/mcp', status: 200, mcpSession, operation: 'initialize', requestId: 1, reason: 'answered' },
    { path: '/api/tools/abort/live-1', toolId: 'live-1', reason: 'answered' },
    { method: 'GET', path: '/mcp', mcpSession, reason: 'client-gone' },
    { method: 'GET', path: '/mcp', mcpSession, reason: 'bridge-shutdown' },
  ]);
});
