/**
 * Counts with the OpenTelemetry SDK. One set of instruments serves `/metrics` and OTLP. The server loads this file only
 * if metrics are switched on.
 */
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { LIMIT_SCOPES, type LimitName, type LimitScope, REFUSING_LIMITS } from '../limits/limits.ts';
import { PUSH_RESULTS, type PushResult } from '../push/push-subscription.ts';
import { createInstruments, type Instruments, type SetGauge } from './instruments.ts';
import { modelAttributes } from './model-attributes.ts';
import type { Metrics, MeasuredServerState } from './metrics.ts';
import { metricNameWithUnit } from './prometheus-name.ts';
import { serviceResource } from '../../shared/telemetry/service-resource.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import { STATE_NAMES, TERMINAL_STATES } from '../task/snapshot.ts';
import { TaskActivityTracker, type TaskActivity } from './task-activity.ts';

/** The interval of exports. It is OpenTelemetry's default for OTEL_METRIC_EXPORT_INTERVAL, in milliseconds. */
const EXPORT_INTERVAL_MS = 60_000;

/**
 * The channels that the metrics count by name. A client may send any other name. The metrics count all other names as
 * one channel.
 */
const CHANNELS: ReadonlySet<string> = new Set([
  'a2a',
  'card',
  'cli',
  'client-library',
  'elicitation',
  'page',
  'task-form',
  'tool',
  'webhook',
]);

interface MetricsOptions {
  /** Identifies this server process among the servers of a database. */
  instance: string;
  /**
   * The names of the built-in tools. The metrics count all other tools as one, because agents and MCP servers choose
   * their names.
   */
  tools: readonly string[];
  /** True if the metrics are sent over OTLP. The exporter reads its address and headers from OTEL_* variables. */
  otlp: boolean;
  env: Environment;
}

/** A metric reader that collects only when `/metrics` is read. */
class PullReader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

export function openMetrics({ instance, tools, otlp, env }: MetricsOptions): Metrics {
  const pull = new PullReader();
  const interval = Number(env['OTEL_METRIC_EXPORT_INTERVAL']) || EXPORT_INTERVAL_MS;
  const push = otlp
    ? [
        new PeriodicExportingMetricReader({
          exporter: new OTLPMetricExporter(),
          exportIntervalMillis: interval,
          exportTimeoutMillis: Math.min(interval, 30_000),
        }),
      ]
    : [];
  const provider = new MeterProvider({
    resource: serviceResource('a2a-server', instance),
    readers: [pull, ...push],
  });
  const instruments = createInstruments(provider.getMeter('a2a-server'));
  const activities = new TaskActivityTracker();
  const known = new Set(tools);
  // The labels of the OpenTelemetry scope are the same on each metric, so they are left out.
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
  const countRefusals = (limit: LimitName, scope: LimitScope, refusals: number): void =>
    instruments.add('a2a.server.refusals', refusals, { 'a2a.limit': limit, 'a2a.limit.scope': scope });
  // Prometheus sees the first count as an increase only if the counter had the value 0 before.
  for (const limit of REFUSING_LIMITS) for (const scope of LIMIT_SCOPES) countRefusals(limit, scope, 0);
  const countPushes = (result: PushResult, attempts: number): void =>
    instruments.add('a2a.server.push_notifications', attempts, { 'a2a.push.result': result });
  for (const result of PUSH_RESULTS) countPushes(result, 0);
  for (const state of TERMINAL_STATES)
    instruments.add('a2a.server.ended_tasks', 0, { 'a2a.task.state': state });
  return {
    appended(taskId, entries) {
      for (const activity of activities.note(taskId, entries))
        recordActivityMetrics(instruments, activity, known);
    },
    append: (result, seconds) =>
      instruments.record('a2a.server.append.duration', seconds, { 'a2a.append.result': result }),
    request: ({ method, route, status, operation, seconds }) =>
      instruments.record('http.server.request.duration', seconds, {
        'http.request.method': method,
        'http.response.status_code': status,
        ...(route !== undefined && { 'http.route': route }),
        ...(operation !== undefined && { 'rpc.method': operation }),
      }),
    refused: (limit, scope) => countRefusals(limit, scope, 1),
    pushed: (result) => countPushes(result, 1),
    observe: (facts) => instruments.observe(async (set) => setGauges(set, await facts())),
    async prometheusText() {
      const { resourceMetrics } = await pull.collect();
      return serializer.serialize(withUnits(resourceMetrics));
    },
    close: () => provider.shutdown(),
  };
}

function withUnits(collected: ResourceMetrics): ResourceMetrics {
  return {
    ...collected,
    scopeMetrics: collected.scopeMetrics.map((scope) => ({
      ...scope,
      metrics: scope.metrics.map((metric) => ({
        ...metric,
        descriptor: { ...metric.descriptor, name: metricNameWithUnit(metric.descriptor) },
      })),
    })),
  };
}

function setGauges(set: SetGauge, facts: MeasuredServerState): void {
  const { statistics, leaseMs } = facts;
  set('a2a.server.streams', facts.streams);
  set('a2a.server.executions', facts.executions);
  set('a2a.server.queued_tasks', facts.queued);
  set('a2a.server.journal.reachable', statistics === undefined ? 0 : 1);
  if (leaseMs !== undefined) set('a2a.server.lease.remaining', leaseMs / 1000);
  if (statistics === undefined) return;
  const { tasks, waitingSince, bytes } = statistics;
  // Each measurement sets all states, so the gauge of a state without tasks falls to 0.
  for (const state of STATE_NAMES) set('a2a.server.tasks', tasks[state] ?? 0, { 'a2a.task.state': state });
  set('a2a.server.oldest_wait', waitingSince === null ? 0 : Math.max(0, facts.now - waitingSince) / 1000);
  set('a2a.server.journal.size', bytes);
}

function recordActivityMetrics(
  instruments: Instruments,
  activity: TaskActivity,
  tools: ReadonlySet<string>,
): void {
  switch (activity.type) {
    case 'model-call': {
      const model = modelAttributes(activity.model);
      instruments.record('gen_ai.client.operation.duration', durationOf(activity), {
        ...model,
        ...(activity.failed && { 'error.type': '_OTHER' }),
      });
      if (activity.usage !== undefined) countUse(instruments, { ...activity, usage: activity.usage });
      return;
    }
    case 'summary':
      countUse(instruments, activity);
      return;
    case 'tool-execution':
      instruments.record('a2a.server.tool.duration', durationOf(activity), {
        'gen_ai.tool.name': tools.has(activity.tool) ? activity.tool : 'other',
        'a2a.tool.outcome': activity.outcome,
      });
      return;
    case 'decision':
      instruments.add('a2a.server.decisions', 1, {
        'a2a.decision': activity.decision,
        'a2a.channel': CHANNELS.has(activity.channel) ? activity.channel : 'other',
      });
      return;
    case 'task-end':
      instruments.add('a2a.server.ended_tasks', 1, { 'a2a.task.state': activity.state });
      return;
    case 'execution-start':
    case 'execution-end':
      return;
  }
}

function countUse(
  instruments: Instruments,
  { model, usage, usd }: Pick<Extract<TaskActivity, { type: 'summary' }>, 'model' | 'usage' | 'usd'>,
): void {
  const attributes = modelAttributes(model);
  for (const [type, tokens] of [
    ['input', usage.inputTokens],
    ['output', usage.outputTokens],
  ] as const)
    instruments.record('gen_ai.client.token.usage', tokens, { ...attributes, 'gen_ai.token.type': type });
  if (usd !== undefined) instruments.add('a2a.server.cost', usd, { 'gen_ai.request.model': model });
}

/** Returns the duration in seconds, at least 0. The clock may be set back during the work. */
function durationOf({ startedAt, endedAt }: { startedAt: number; endedAt: number }): number {
  return Math.max(0, endedAt - startedAt) / 1000;
}
