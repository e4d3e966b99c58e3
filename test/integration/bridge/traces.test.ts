/** Tests that the trace of an MCP call (SEP-414) goes to the agent. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { actionOf } from '../../support/a2a-message.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import type { FakeAgent } from '../../support/fake-agent.ts';
import { append, plan } from '../../support/offline-plan.ts';
import { OtlpReceiver } from '../../support/otlp-receiver.ts';
import { stage } from '../../support/stage.ts';
import { CHECK, DECIDE, DELEGATE, startAgent, startClient, stateDirectory } from './support/bridge-stage.ts';

const traceOf = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
const meta = (digit: string) => ({ traceparent: traceOf(digit), tracestate: `vendor=${digit}` });

const sentTraces = (agent: FakeAgent, method = 'SendStreamingMessage') =>
  agent.requests
    .filter((each) => each.method === method)
    .map(({ headers }) => [headers['traceparent'], headers['tracestate']]);

describe('the trace of an MCP call', () => {
  test('goes to the agent in the headers of W3C Trace Context, each call with its own', async () => {
    const agent = await startAgent({ onMessage: (task) => task.work().ask(pendingWrite('one')) });
    const client = await startClient(agent);
    const [first] = await Promise.all([
      client.call(DELEGATE, { task: 'one' }, meta('1')),
      client.call(DELEGATE, { task: 'two' }, meta('2')),
      client.call(DELEGATE, { task: 'three' }),
    ]);
    expect(new Set(sentTraces(agent))).toEqual(
      new Set([
        [traceOf('1'), 'vendor=1'],
        [traceOf('2'), 'vendor=2'],
        [undefined, undefined],
      ]),
    );
    const sessionId = String(first.structuredContent?.['sessionId']);
    const decision = { sessionId, ...actionOf([pendingWrite('one')]), decision: 'approve' };
    await client.call(DECIDE, { ...decision, waitSeconds: 0 }, meta('4'));
    expect(sentTraces(agent).at(-1)).toEqual([traceOf('4'), 'vendor=4']);
  });

  test('that is not valid is not sent', async () => {
    const agent = await startAgent({ onMessage: (task) => task.work().complete() });
    const client = await startClient(agent);
    await client.call(DELEGATE, { task: 'one' }, { traceparent: 'x\r\nEvil: 1', tracestate: 'a=1' });
    await client.call(DELEGATE, { task: 'two' }, { traceparent: 7 });
    expect(sentTraces(agent)).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test('B1 is in the outbox, so the next bridge sends the message in the same trace', async () => {
    const stateDir = await stateDirectory();
    const agent = await startAgent({ onMessage: (task) => task.work().complete() });
    const release = agent.hold();
    const first = await startClient(agent, { stateDir });
    void first.call(DELEGATE, { task: 'it once' }, meta('1'));
    await agent.asked('SendStreamingMessage');
    await first.kill();
    release();
    const second = await startClient(agent, { stateDir });
    await agent.asked('SendStreamingMessage', 2);
    expect(sentTraces(agent)).toEqual([
      [traceOf('1'), 'vendor=1'],
      [traceOf('1'), 'vendor=1'],
    ]);
    await second.call(CHECK, { sessionId: 'session-1' });
  });

  test('contains the work of the real server', async () => {
    const receiver = await OtlpReceiver.open();
    const { server } = await stage({
      env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces`, OTEL_BSP_SCHEDULE_DELAY: '20' },
    });
    const client = await startClient(server);
    const task = plan(append('a.txt', 'x'));
    const asked = await client.call(DELEGATE, { task, workspace: server.workspace }, meta('1'));
    const { sessionId, pending } = delegated.parse(asked.structuredContent);
    await client.call(DECIDE, { sessionId, ...actionOf(pending), decision: 'approve' }, meta('4'));
    for (const name of ['chat offline', 'decide', 'execute_tool append-file'])
      expect((await receiver.span(name)).traceId).toBe('1'.repeat(32));
    const requests = await receiver.until(({ spans }) => {
      const found = spans.filter(({ name }) => name === 'SendStreamingMessage');
      return found.length === 2 ? found : undefined;
    });
    expect(requests.map(({ parentSpanId }) => parentSpanId)).toEqual(['1'.repeat(16), '4'.repeat(16)]);
    await receiver.close();
  });

  test('has a span of the bridge for each tool call, above the work of the server, and no content', async () => {
    const receiver = await OtlpReceiver.open();
    const env = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces`,
      OTEL_BSP_SCHEDULE_DELAY: '20',
    };
    const { server } = await stage({ env });
    const client = await startClient(server, { env });
    await client.call(DELEGATE, { task: 'say private words', workspace: server.workspace }, meta('1'));
    const call = await receiver.span(`tools/call ${DELEGATE}`);
    expect(call).toMatchObject({
      traceId: '1'.repeat(32),
      parentSpanId: '1'.repeat(16),
      attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': DELEGATE },
    });
    const request = await receiver.span('SendStreamingMessage');
    expect(request).toMatchObject({ traceId: call.traceId, parentSpanId: call.spanId });
    // A call that fails in the bridge has a span too, and a client that does not sample its trace has none.
    await client.call(CHECK, { sessionId: 'unknown' }, { traceparent: traceOf('2').replace(/01$/, '00') });
    await client.call(CHECK, { sessionId: 'unknown' });
    await receiver.until(({ spans }) =>
      spans.find(({ attributes }) => attributes['error.type'] === 'tool_error'),
    );
    expect(receiver.spans.filter(({ traceId }) => traceId === '2'.repeat(32))).toEqual([]);
    expect(receiver.received).not.toContain('private words');
    await receiver.close();
  });
});

const delegated = z.looseObject({
  sessionId: z.string(),
  pending: z.array(z.looseObject({ callId: z.string(), shown: z.string() })),
});
