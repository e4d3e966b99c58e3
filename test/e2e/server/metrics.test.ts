/** Tests `/metrics` and the metrics over OTLP, with real server processes. */
import { describe, expect, it } from '@jest/globals';
import { METRICS } from '../../../a2a-server/telemetry/metric-definitions.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { decisionOn } from '../../support/a2a-message.ts';
import { OtlpReceiver } from '../../support/otlp-receiver.ts';
import { PROMETHEUS_METRICS, PROMETHEUS_SAMPLES } from '../../support/prometheus-series.ts';
import { parsePrometheusText, sampleValue, type Sample } from '../../support/prometheus-text.ts';
import { stage } from '../../support/stage.ts';

const READER = 'metrics-reader-0123456789';
const ANN = 'ann-token-0123456789-abcdef';

const ask = (url: string, token?: string): Promise<Response> =>
  fetch(`${url}/metrics`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

async function samplesAt(url: string, token?: string): Promise<Sample[]> {
  const response = await ask(url, token);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return parsePrometheusText(await response.text());
}

describe('GET /metrics', () => {
  it('has the states, decisions, model calls, tools, requests and appends of a task, and nothing of its content', async () => {
    const { server, peer } = await stage({ args: ['--metrics', 'on'] });
    const parked = await peer.stream('append "SECRET" to a.txt');
    const { taskId, pending } = await parked.parked();
    await parked.rest();
    const before = await samplesAt(server.url, server.token);
    expect(sampleValue(before, 'a2a_server_tasks', { a2a_task_state: 'input-required' })).toBe(1);
    expect(sampleValue(before, 'a2a_server_tasks', { a2a_task_state: 'failed' })).toBe(0);
    expect(sampleValue(before, 'a2a_server_oldest_wait_seconds')).toBeGreaterThanOrEqual(0);
    expect(sampleValue(before, 'a2a_server_journal_size_bytes')).toBeGreaterThan(1_000);
    expect(sampleValue(before, 'a2a_server_journal_reachable')).toBe(1);
    expect(sampleValue(before, 'a2a_server_streams')).toBe(0);
    // Without this zero, the alert A2aTasksFail would not see the first failed tasks.
    expect(sampleValue(before, 'a2a_server_ended_tasks_total', { a2a_task_state: 'failed' })).toBe(0);

    const secret = decisionOn(pending, 'approve', { reason: 'SECRET' });
    await (await peer.decide(taskId, [secret])).rest();
    await peer.task(taskId);
    const response = await ask(server.url, server.token);
    const text = await response.text();
    const after = parsePrometheusText(text);
    expect(sampleValue(after, 'a2a_server_decisions_total', { a2a_decision: 'approve' })).toBe(1);
    expect(sampleValue(after, 'a2a_server_ended_tasks_total', { a2a_task_state: 'completed' })).toBe(1);
    const tool = { gen_ai_tool_name: 'append-file', a2a_tool_outcome: 'ok' };
    expect(sampleValue(after, 'a2a_server_tool_duration_seconds_count', tool)).toBe(1);
    const model = { gen_ai_request_model: 'offline' };
    expect(sampleValue(after, 'gen_ai_client_operation_duration_seconds_count', model)).toBe(2);
    expect(
      sampleValue(after, 'gen_ai_client_token_usage_count', { ...model, gen_ai_token_type: 'output' }),
    ).toBe(2);
    const request = { http_route: '/', rpc_method: 'GetTask', http_response_status_code: '200' };
    expect(sampleValue(after, 'http_server_request_duration_seconds_count', request)).toBe(1);
    const appends = { a2a_append_result: 'appended' };
    expect(sampleValue(after, 'a2a_server_append_duration_seconds_count', appends)).toBeGreaterThan(3);
    // Without PostgreSQL there is no lease.
    const offered = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);
    expect([...offered, 'a2a_server_lease_remaining_seconds']).toEqual(
      expect.arrayContaining([...PROMETHEUS_METRICS]),
    );
    expect(after.filter(({ name }) => !PROMETHEUS_SAMPLES.has(name) && name !== 'target_info')).toEqual([]);
    expect(text).not.toContain('SECRET');
    expect(text).not.toContain(taskId);
    expect(text).not.toContain('principal=');
    expect(text).not.toContain('"local"');
  });

  it('groups a channel, a method and an address that a client has invented', async () => {
    const { server, peer } = await stage({ args: ['--metrics', 'on'] });
    const { taskId, pending } = await (await peer.stream('append "x" to a.txt')).parked();
    const denial = {
      data: {
        extension: TOOL_APPROVAL_EXTENSION,
        decisions: [decisionOn(pending, 'deny')],
        channel: 'invented',
      },
    };
    await (await peer.stream([denial], { taskId })).rest();
    await peer.call('Invented', {}).catch(() => undefined);
    await fetch(`${server.url}/invented`, { headers: { authorization: `Bearer ${server.token}` } });
    const text = await (await ask(server.url, server.token)).text();
    expect(text).toContain('a2a_channel="other"');
    expect(text.toLowerCase()).not.toContain('invented');
  });

  it('X1 answers the local token and the token for metrics, and not the token of a user or no token', async () => {
    const { server } = await stage({
      args: ['--metrics', 'on'],
      env: { A2A_SERVER_METRICS_TOKEN: READER, A2A_SERVER_TOKENS: `ann=${ANN}` },
    });
    const statuses = await Promise.all(
      [server.token, READER, ANN, undefined].map((token) => ask(server.url, token)),
    );
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 401, 401]);
    // The token for metrics opens no other route.
    const tools = await fetch(`${server.url}/api/tools`, { headers: { authorization: `Bearer ${READER}` } });
    expect(tools.status).toBe(401);
  });

  it('is not there unless it is switched on', async () => {
    const { server } = await stage();
    expect((await ask(server.url, server.token)).status).toBe(404);
  });

  it('needs no token at an address of its own, and is then not at the address of the server', async () => {
    const { server } = await stage({ args: ['--metrics', '127.0.0.1:0'] });
    await server.logged(/metrics can be read without a token/);
    const port = /"port":(\d+),"msg":"metrics can be read/.exec(server.log())?.[1];
    expect(sampleValue(await samplesAt(`http://127.0.0.1:${port}`), 'a2a_server_executions')).toBe(0);
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(404);
    expect((await ask(server.url, server.token)).status).toBe(404);
    expect(await server.stop()).toBe(0);
  });
});

it('a server whose address for metrics is taken does not start, and says which setting to change', async () => {
  const { server } = await stage();
  const { host } = new URL(server.url);
  await expect(stage({ args: ['--metrics', host] })).rejects.toThrow(
    /cannot listen for metrics on .* Choose another address with --metrics/,
  );
});

describe('the metrics over OTLP', () => {
  it('are sent to the endpoint of the standard variables, also at the end of the server', async () => {
    const receiver = await OtlpReceiver.open();
    const { server, peer } = await stage({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_METRIC_EXPORT_INTERVAL: '3600000' },
    });
    const { taskId, pending } = await (await peer.stream('append "SECRET" to a.txt')).parked();
    await (await peer.decide(taskId, [decisionOn(pending, 'approve')])).rest();
    expect(await server.stop()).toBe(0);
    const known = Object.keys(METRICS);
    expect([...receiver.metrics].filter((name) => !known.includes(name))).toEqual([]);
    expect([...receiver.metrics]).toEqual(
      expect.arrayContaining(['a2a.server.decisions', 'a2a.server.tasks', 'gen_ai.client.token.usage']),
    );
    expect(receiver.received).not.toContain('SECRET');
    await receiver.close();
  });

  it('a receiver that does not answer delays neither a task nor the end of the server by more than its limit', async () => {
    const { server, peer } = await stage({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_METRIC_EXPORT_INTERVAL: '50' },
    });
    const { taskId, pending } = await (await peer.stream('append "x" to a.txt')).parked();
    const events = await (await peer.decide(taskId, [decisionOn(pending, 'approve')])).rest();
    expect(events.at(-1)?.state).toBe('COMPLETED');
    expect(await server.stop()).toBe(0);
  });
});
