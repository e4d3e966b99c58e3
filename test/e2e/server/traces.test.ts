/** Tests traces and the trace ids of the log, with real server processes and a receiver of OTLP. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import { decisionOn } from '../../support/a2a-message.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';
import { plan } from '../../support/offline-plan.ts';
import { OtlpReceiver } from '../../support/otlp-receiver.ts';
import { stage, stageAgain } from '../../support/stage.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CLIENT_SPAN = 'b7ad6b7169203331';
const delegating = { headers: { traceparent: `00-${TRACE}-${CLIENT_SPAN}-01`, tracestate: 'vendor=1' } };
const OTHER_TRACE = '11111111111111111111111111111111';
const deciding = { headers: { traceparent: `00-${OTHER_TRACE}-2222222222222222-01` } };

let receiver: OtlpReceiver;
beforeEach(async () => (receiver = await OtlpReceiver.open()));
afterEach(() => receiver.close());

const sending = () => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_BSP_SCHEDULE_DELAY: '20',
});

describe('the trace of a task', () => {
  it('continues after a SIGKILL between the question and the approval, with each span in its place', async () => {
    const first = await stage({ env: sending() });
    const stream = await first.peer.stream('append "SECRET" to a.txt', delegating);
    const { taskId, pending } = await stream.parked();
    await stream.rest();
    const request = await receiver.span('SendStreamingMessage');
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: CLIENT_SPAN, kind: 2 });
    expect(request.attributes).toMatchObject({ 'a2a.task.id': taskId, 'http.response.status_code': 200 });
    const asking = await receiver.span('invoke_agent a2a-server');
    expect(asking).toMatchObject({ traceId: TRACE, parentSpanId: request.spanId });
    const question = await receiver.span('chat offline');
    expect(question).toMatchObject({ traceId: TRACE, parentSpanId: asking.spanId, kind: 3 });
    expect(question.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'offline',
      'gen_ai.request.model': 'offline',
      'gen_ai.usage.output_tokens': expect.any(Number),
    });

    await first.server.kill();
    receiver.spans.length = 0;
    const second = await stageAgain(first);
    const secret = decisionOn(pending, 'approve', { reason: 'SECRET' });
    await (await second.peer.decide(taskId, [secret], deciding)).rest();
    const decision = await receiver.span('decide');
    expect(decision).toMatchObject({ traceId: TRACE, parentSpanId: request.spanId });
    expect(decision.attributes).toMatchObject({ 'a2a.decision': 'approve', 'a2a.channel': 'a2a' });
    const working = await receiver.span('invoke_agent a2a-server');
    expect(working).toMatchObject({ traceId: TRACE, parentSpanId: request.spanId });
    const tool = await receiver.span('execute_tool append-file');
    expect(tool).toMatchObject({ traceId: TRACE, parentSpanId: working.spanId });
    expect(tool.attributes).toMatchObject({
      'gen_ai.tool.call.id': pending[0]?.callId,
      'a2a.task.id': taskId,
    });
    expect(await receiver.span('chat offline')).toMatchObject({
      traceId: TRACE,
      parentSpanId: working.spanId,
    });
    // The request of the person who decides belongs to that person's own trace.
    expect(await receiver.span('SendStreamingMessage')).toMatchObject({
      traceId: OTHER_TRACE,
      parentSpanId: '2222222222222222',
    });
    expect(receiver.received).not.toContain('SECRET');
    expect(receiver.received).not.toContain('a.txt');
  });

  it('is the server’s own if the client sends none or an invalid one', async () => {
    const { peer, server } = await stage({ env: sending() });
    const invalid = { headers: { traceparent: '00-00000000000000000000000000000000-b7ad6b7169203331-01' } };
    await (await peer.stream(plan({ say: 'Hi.' }), invalid)).rest();
    const request = await receiver.span('SendStreamingMessage');
    expect(request.traceId).toMatch(/^(?!0{32})[\da-f]{32}$/);
    expect(request.parentSpanId).toBeUndefined();
    expect((await receiver.span('chat offline')).traceId).toBe(request.traceId);
    // The end of the server sends the last spans.
    await peer.list();
    await server.stop();
    await receiver.span('ListTasks');
  });

  it('is not recorded if the client does not sample it, and its work continues', async () => {
    const { peer, server } = await stage({ env: sending() });
    const unsampled = { headers: { traceparent: `00-${TRACE}-${CLIENT_SPAN}-00` } };
    await (await peer.stream(plan({ say: 'Hi.' }), unsampled)).rest();
    await peer.list();
    await server.stop();
    await receiver.span('ListTasks');
    expect(receiver.spans.map(({ traceId }) => traceId)).not.toContain(TRACE);
  });

  it('a receiver that never answers delays no task, and the end of the server by some seconds only', async () => {
    const silent = await listenOnLoopback(createServer());
    const env = { ...sending(), OTEL_EXPORTER_OTLP_ENDPOINT: `http://${silent.host}` };
    const { peer, server } = await stage({ env });
    const events = await (await peer.stream(plan({ say: 'Hi.' }))).rest();
    expect(events.at(-1)?.state).toBe('COMPLETED');
    expect(await server.stop()).toBe(0);
    expect(server.log()).toContain('the last metrics or spans could not be sent');
    await silent.close();
  });
});

it('the log has the trace id of the client in each line about the task, also after a SIGKILL and without an SDK', async () => {
  const first = await stage({ args: ['--log-level', 'debug'] });
  const stream = await first.peer.stream('append "x" to a.txt', delegating);
  const { taskId, pending } = await stream.parked();
  await stream.rest();
  await first.server.logged(/a request is closed/);
  await first.server.kill();
  const second = await stageAgain(first);
  await (await second.peer.decide(taskId, [decisionOn(pending, 'approve')], deciding)).rest();
  await second.server.stop();
  const lines = `${first.server.log()}${second.server.log()}`
    .split('\n')
    .filter((line) => line.includes(`"${taskId}"`))
    .map((line): { msg: string; traceId?: string } => JSON.parse(line));
  expect(lines.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining(['a task starts', 'a person decided', 'a tool ended', 'a task ended']),
  );
  const requests = lines.filter(({ msg }) => msg === 'a request is closed');
  expect(requests.map(({ traceId }) => traceId)).toEqual([TRACE, OTHER_TRACE]);
  const others = lines.filter(({ msg }) => msg !== 'a request is closed');
  expect(new Set(others.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
});
