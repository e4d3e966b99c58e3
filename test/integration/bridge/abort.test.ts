import { describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TOOL_EXECUTIONS_META_KEY } from '../../../bridge/mcp/reports/tool-executions.ts';
import type { FakeAgent } from '../../support/fake-agent.ts';
import { timeOf } from '../../support/fake-agent-task.ts';
import type { FakeTask } from '../../support/fake-agent-task.ts';
import { CHECK, DELEGATE, WAIT, startAgent, startClient, stateDirectory } from './support/bridge-stage.ts';
import { type RawClient, textOf } from './support/raw-client.ts';

const ABORT = 'abort_tool_execution';

function runs(task: FakeTask, toolId: string): FakeTask {
  const call = { callId: `call-of-${toolId}`, tool: 'run-command', title: `Run ${toolId}` };
  return task.activity({ type: 'tool.started', ...call, toolId });
}

function ends(task: FakeTask, toolId: string): FakeTask {
  const call = { callId: `call-of-${toolId}`, tool: 'run-command', title: `Run ${toolId}` };
  return task.activity({ type: 'tool.finished', ...call, toolId, outcome: 'ok', summary: 'ran' });
}

/** Starts a delegation. `reached` resolves with the first progress message that matches. */
function delegatedUntil(client: RawClient, args: object, pattern: RegExp) {
  const result = client.call(DELEGATE, args, { progressToken: 'p' });
  return { result, reached: client.progressed(pattern) };
}

/** Starts a bridge with these agents in its settings. */
async function clientOf(agents: Record<string, FakeAgent>): Promise<RawClient> {
  const stateDir = await stateDirectory();
  const listed = Object.fromEntries(Object.entries(agents).map(([name, { url }]) => [name, { url }]));
  await writeFile(join(stateDir, 'config.json'), JSON.stringify({ bridge: { agents: listed } }));
  return startClient({}, { stateDir });
}

describe('tool executions that a client can abort', () => {
  test('R40 each result about a task lists its running tools in _meta and metadata, with state, agent and start time', async () => {
    const agent = await startAgent({
      onMessage: (task) => ends(runs(runs(runs(task.work(), 'live-1'), 'live-2'), 'live-3'), 'live-2'),
    });
    const client = await clientOf({ first: agent, second: await startAgent() });
    const delegating = delegatedUntil(client, { task: 'run' }, /run-command: ok/);
    await delegating.reached;
    const executions = ['live-1', 'live-2', 'live-3'].map((toolId, index) => ({
      toolId,
      tool: 'run-command',
      title: `Run ${toolId}`,
      state: toolId === 'live-2' ? 'ok' : 'running',
      agent: 'first',
      sessionId: 'session-1',
      startedAt: timeOf(index + 3),
    }));
    const looked = await client.call(CHECK, { sessionId: 'session-1' });
    expect(looked['_meta']).toEqual({ [TOOL_EXECUTIONS_META_KEY]: executions });
    expect(looked['metadata']).toEqual({ toolId: 'live-3', toolExecutions: executions });
    expect(textOf(looked)).toContain(`running, started ${timeOf(3)} (toolId live-1)`);
    const waited = await client.call(WAIT, { sessionId: 'session-1', waitSeconds: 0 });
    expect(waited['_meta']).toEqual({ [TOOL_EXECUTIONS_META_KEY]: executions });
    ends(ends(agent.task, 'live-1'), 'live-3').complete();
    const done = await delegating.result;
    // The result of the delegation must list all executions, also those that have ended.
    const ended = executions.map((it) => ({ ...it, state: 'ok' }));
    expect(done['_meta']).toEqual({ [TOOL_EXECUTIONS_META_KEY]: ended });
    expect(done['metadata']).toEqual({ toolId: 'live-3', toolExecutions: ended });
  });

  test('R40 R42 the bridge sends the abort to the agent that runs the tool; for an unknown tool id, to every agent', async () => {
    const [first, second] = [
      await startAgent(),
      await startAgent({ onMessage: (task) => runs(task.work(), 'live-2') }),
    ];
    const client = await clientOf({ first, second });
    await delegatedUntil(client, { task: 'run', agent: 'second' }, /runs: Run live-2/).reached;
    const seen = await client.request('tools/abort', { toolId: 'live-2', reason: 'too long' });
    expect(seen.result).toMatchObject({ success: true, message: 'asked to abort live-2' });
    expect([first.aborted, second.aborted]).toEqual([[], ['live-2']]);
    const unseen = await client.call(ABORT, { toolId: 'elsewhere' });
    expect(second.abortRequests).toEqual([{ reason: 'too long' }, { reason: 'aborted over MCP' }]);
    expect(unseen.structuredContent).toEqual({
      success: false,
      message: 'Agent "first": asked to abort elsewhere Agent "second": asked to abort elsewhere',
    });
  });

  test('R40 an abort with tools/abort and without a reason says that it came over MCP', async () => {
    const agent = await startAgent({ onMessage: (task) => runs(task.work(), 'live-1') });
    const client = await clientOf({ only: agent });
    await delegatedUntil(client, { task: 'run' }, /runs: Run live-1/).reached;
    const { result } = await client.request('tools/abort', { toolId: 'live-1' });
    expect(result).toMatchObject({ success: true });
    expect(agent.abortRequests).toEqual([{ reason: 'aborted over MCP' }]);
  });

  test.each([
    ['empty', ''],
    ['a relative path', '../../tasks'],
    ['a parent directory', '..'],
    ['two path segments', 'a/b'],
    ['two segments with an escaped slash', 'a%2fb'],
    ['two segments with a backslash', 'a\\b'],
    ['10 kB long', 'x'.repeat(10_000)],
    ['two lines', 'live-1\r\nx: y'],
    ['text with a zero byte', 'live-1\u0000'],
  ])(
    'R41 for an id that is %s, the tool and the method return a typed error, and the bridge sends no request to an agent',
    async (_, toolId) => {
      const agent = await startAgent();
      const client = await clientOf({ only: agent });
      const asMethod = await client.request('tools/abort', { toolId });
      expect(asMethod.result).toMatchObject({
        success: false,
        message: expect.stringContaining('is not the id of a tool execution'),
      });
      const asTool = await client.call(ABORT, { toolId });
      expect(asTool).toMatchObject({
        isError: true,
        structuredContent: { success: false },
        _meta: { 'mcp-a2a-bridge/error': { reason: 'UNKNOWN_TOOL_EXECUTION' } },
      });
      expect(textOf(asTool).length).toBeLessThan(500);
      expect(agent.requests).toEqual([]);
    },
  );

  test.each([
    [{}],
    [{ toolId: 7 }],
    [{ toolId: null }],
    [{ toolId: ['live-1'] }],
    [{ toolId: 'a', reason: 1 }],
  ])('R41 tools/abort with %j is invalid, and the bridge sends no request to an agent', async (params) => {
    const agent = await startAgent();
    const client = await clientOf({ only: agent });
    expect((await client.request('tools/abort', params)).error?.code).toBe(-32602);
    expect(agent.requests).toEqual([]);
  });

  test('R41 the abort of a finished execution returns no error; the abort of an unknown execution returns an error', async () => {
    const agent = await startAgent({ onMessage: (task) => ends(runs(task.work(), 'ended-1'), 'ended-1') });
    const client = await clientOf({ only: agent });
    await delegatedUntil(client, { task: 'run' }, /run-command: ok/).reached;
    const ended = await client.call(ABORT, { toolId: 'ended-1' });
    expect(ended.isError).toBeUndefined();
    expect(ended.structuredContent).toEqual({ success: false, message: 'asked to abort ended-1' });
    const unknown = await client.call(ABORT, { toolId: 'unknown-tool' });
    expect(unknown.isError).toBe(true);
    expect(unknown.structuredContent).toEqual({ success: false, message: 'asked to abort unknown-tool' });
  });
});
