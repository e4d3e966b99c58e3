/** Tests metrics and traces of several server processes on one PostgreSQL. */
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { decisionOn } from '../../support/a2a-message.ts';
import { append, plan } from '../../support/offline-plan.ts';
import { OtlpReceiver } from '../../support/otlp-receiver.ts';
import { startProxy, type PostgresProxy } from '../../support/postgres-proxy.ts';
import { onPostgres } from '../../support/on-postgres.ts';
import { parsePrometheusText, sampleValue, type Sample } from '../../support/prometheus-text.ts';
import { stage, type Stage } from '../../support/stage.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const traced = { headers: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` } };

/** The interval in which a test asks again for a state that no event announces. */
const ASK_AGAIN_MS = 100;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));

async function samplesOf({ server }: Stage): Promise<Sample[]> {
  const response = await fetch(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  return parsePrometheusText(await response.text());
}

/** Asks until `/readyz` has the status. */
async function untilReadyIs(status: number, { server }: Stage): Promise<void> {
  while ((await fetch(`${server.url}/readyz`)).status !== status) await pause();
}

/** Asks until the metric has the value. */
async function untilValue(of: Stage, name: string, value: number): Promise<void> {
  while (sampleValue(await samplesOf(of), name) !== value) await pause();
}

onPostgres([], (database) => {
  let url: string;
  let proxy: PostgresProxy;
  let receiver: OtlpReceiver;

  beforeEach(async () => {
    url = await database().createDatabase();
    proxy = await startProxy(url);
    receiver = await OtlpReceiver.open();
  });

  afterEach(async () => {
    await receiver.close();
    await proxy.close();
    await database().dropDatabase(url);
  });

  const replica = (from = url): Promise<Stage> =>
    stage({
      args: ['--metrics', 'on'],
      env: {
        A2A_SERVER_DATABASE: from,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces`,
        OTEL_BSP_SCHEDULE_DELAY: '20',
      },
    });

  it('a task that another server continues after a SIGKILL stays in its trace', async () => {
    const first = await replica();
    const second = await replica();
    const stream = await first.peer.stream(plan(append('a.txt', 'x')), traced);
    const { taskId, pending } = await stream.parked();
    await stream.rest();
    await receiver.span('invoke_agent a2a-server');
    await first.server.kill();
    receiver.spans.length = 0;
    const decided = await second.peer.decide(taskId, [decisionOn(pending, 'approve')]);
    expect((await decided.rest()).at(-1)?.state).toBe('COMPLETED');
    for (const name of ['decide', 'invoke_agent a2a-server', 'execute_tool append-file', 'chat offline'])
      expect((await receiver.span(name)).traceId).toBe(TRACE);
  });

  it('each server has the tasks of the database and its own lease', async () => {
    const first = await replica();
    const second = await replica();
    await (await first.peer.stream(plan(append('a.txt', 'x')))).parked();
    for (const each of [first, second]) {
      const samples = await samplesOf(each);
      expect(sampleValue(samples, 'a2a_server_tasks', { a2a_task_state: 'input-required' })).toBe(1);
      expect(sampleValue(samples, 'a2a_server_journal_size_bytes')).toBeGreaterThan(8_192);
      const lease = sampleValue(samples, 'a2a_server_lease_remaining_seconds') ?? 0;
      expect(lease).toBeGreaterThan(0);
      expect(lease).toBeLessThanOrEqual(3);
    }
  });

  it('a server whose database hangs still answers, is not ready, has no journal and no lease, and recovers', async () => {
    const server = await replica(proxy.url);
    await untilValue(server, 'a2a_server_journal_reachable', 1);
    await untilReadyIs(200, server);
    proxy.freeze();
    await untilReadyIs(503, server);
    await untilValue(server, 'a2a_server_lease_remaining_seconds', 0);
    await untilValue(server, 'a2a_server_journal_reachable', 0);
    proxy.cut();
    await untilValue(server, 'a2a_server_journal_reachable', 1);
    while (!sampleValue(await samplesOf(server), 'a2a_server_lease_remaining_seconds')) await pause();
    await untilReadyIs(200, server);
  });
});
