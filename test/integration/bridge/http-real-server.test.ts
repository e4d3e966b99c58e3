/**
 * Tests the bridge over HTTP with the real server and the official MCP clients. All are real processes and sockets.
 */
import { actionOf } from '../../support/a2a-message.ts';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  toolExecutionSchema,
  TOOL_EXECUTIONS_META_KEY,
} from '../../../bridge/mcp/reports/tool-executions.ts';
import { append, plan, shell } from '../../support/offline-plan.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { CANCEL, CHECK, DECIDE, DELEGATE, LIST, WAIT, closing, startHttp } from './support/bridge-stage.ts';
import type { HttpBridge } from './support/http-bridge.ts';
import { HTTP_CLIENTS, type HttpClient } from './support/http-client.ts';

/** The command runs longer than any test. After a failed test it ends by itself. */
const LONG = 'echo running; sleep 90 & wait';

const delegated = z.looseObject({
  sessionId: z.string(),
  state: z.string(),
  pending: z.array(z.looseObject({ callId: z.string(), shown: z.string(), tool: z.string() })),
});

describe.each(HTTP_CLIENTS)('%s, with the real server behind the bridge', (_, connect) => {
  /** Starts a bridge and a client. With `before`, the new bridge uses the state directory and the port of that bridge. */
  async function clientOf(
    { server }: SharedStage,
    before?: HttpBridge,
  ): Promise<{ bridge: HttpBridge; client: HttpClient }> {
    const bridge = await startHttp(server, {
      ...(before && { stateDir: before.stateDir, port: Number(new URL(before.url).port) }),
      args: ['--log-level', 'info'],
    });
    return { bridge, client: closing(await connect(bridge)) };
  }

  test('R01 R20 the first bridge starts a task, the next bridge approves it, and the tool runs exactly once', async () => {
    const whole = await sharedStage();
    const first = await clientOf(whole);
    const task = plan(append('test.md', 'hello\n'), { say: 'Done.' });
    const { workspace } = whole.server;
    const asked = await first.client.call(DELEGATE, { task, workspace });
    const { sessionId, pending } = delegated.parse(asked.structuredContent);
    expect(pending).toMatchObject([{ tool: 'append-file' }]);
    expect(await whole.file('test.md')).toBeUndefined();
    await first.bridge.kill();
    const { client } = await clientOf(whole, first.bridge);
    const { callId, shown } = actionOf(pending);
    const decided = await client.call(DECIDE, { sessionId, callId, shown, decision: 'approve' });
    expect(decided.structuredContent).toMatchObject({ state: 'completed' });
    const again = await client.call(DECIDE, { sessionId, callId, shown, decision: 'approve' });
    expect(again.isError).toBe(true);
    expect(await whole.file('test.md')).toBe('hello\n');
  });

  test('R40 R41 a status call lists the running tool with its start time, an abort stops it, and a second abort finds no running tool', async () => {
    const whole = await sharedStage();
    const { client } = await clientOf(whole);
    const task = plan(shell(LONG), { say: 'Done.' });
    const { workspace } = whole.server;
    const asked = await client.call(DELEGATE, { task, workspace });
    const { sessionId, pending } = delegated.parse(asked.structuredContent);
    const { callId, shown } = actionOf(pending);
    const approval = { sessionId, callId, shown, decision: 'approve' };
    const calls: Promise<unknown>[] = [];
    await new Promise<void>((runs) => {
      const onprogress = (message: string): void => {
        if (message.includes('run-shell-command runs')) runs();
      };
      calls.push(client.call(DECIDE, approval, { onprogress }));
    });
    const looked = await client.call(CHECK, { sessionId });
    const running = z.array(toolExecutionSchema).parse(looked['_meta']?.[TOOL_EXECUTIONS_META_KEY]);
    expect(running).toMatchObject([{ tool: 'run-shell-command', agent: 'agent', sessionId }]);
    const { toolId = '', startedAt } = running[0] ?? {};
    expect(Math.floor(Date.parse(startedAt ?? '') / 1000)).toBeGreaterThanOrEqual(
      Number(/-(\d+)-[0-9a-f]+$/.exec(toolId)?.[1]),
    );
    expect(await client.abortTool(toolId)).toMatchObject({ success: true });
    await Promise.all(calls);
    const done = await client.call(WAIT, { sessionId });
    expect(done.structuredContent).toMatchObject({ state: 'completed', calls: [{ state: 'stopped' }] });
    expect(await client.abortTool(toolId)).toMatchObject({ success: false });
    const as = await client.call('abort_tool_execution', { toolId });
    expect(as.structuredContent).toMatchObject({ success: false });
    expect(as.isError).toBeUndefined();
  });

  test('R24 R48 if a client cancels its call, the command runs on; a cancel of the task stops the command', async () => {
    const whole = await sharedStage();
    const { bridge, client } = await clientOf(whole);
    const { workspace } = whole.server;
    const stop = new AbortController();
    const task = plan(shell(LONG), { say: 'Done.' });
    const started = new Promise<void>((resolve) => {
      client
        .call(
          DELEGATE,
          { task, workspace, autoExecute: true },
          {
            signal: stop.signal,
            onprogress: (message) => message.includes('run-shell-command runs') && resolve(),
          },
        )
        .catch(() => undefined);
    });
    await started;
    stop.abort();
    await bridge.logged(/"outcome":"goes-on"/);
    const listed = await client.call(LIST, { state: 'working' });
    const sessions = z.array(z.looseObject({ sessionId: z.string() }));
    const [session] = sessions.parse(listed.structuredContent?.['sessions']);
    const cancelled = await client.call(CANCEL, { sessionId: session?.sessionId });
    expect(cancelled.structuredContent).toMatchObject({ state: 'cancelled' });
    const waited = await client.call(WAIT, { sessionId: session?.sessionId });
    expect(waited.structuredContent).toMatchObject({ state: 'cancelled' });
    expect(waited['_meta']?.[TOOL_EXECUTIONS_META_KEY]).toMatchObject([{ state: 'stopped' }]);
  });
});
