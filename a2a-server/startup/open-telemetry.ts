/**
 * Starts the telemetry that the settings and the OTEL_* variables request. Loads the OpenTelemetry SDK only if they
 * request some.
 */
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { resultWithin } from '../runtime/timeout.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { otlpSignals } from '../../shared/telemetry/otlp-signals.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { Tool } from '../tools/tool.ts';
import type { ServerSettings } from './settings/settings.ts';

/** The time limit of the last send. A receiver that does not answer must not delay the end of the server any longer. */
const LAST_SEND_MS = 2_000;

interface TelemetryOptions {
  tools: readonly Pick<Tool, 'name'>[];
  env: Environment;
  log: Logger;
}

export interface Telemetry {
  /** The metrics of the server. Undefined if they are switched off. */
  readonly metrics: Metrics | undefined;
  /** The traces of the server. Undefined if they are switched off. */
  readonly traces: Traces | undefined;
  /** Adds a function that `close` calls first. */
  onClose(act: () => void): void;
  /** Sends the last values and spans, within some seconds. Does not reject. */
  close(): Promise<void>;
}

export async function openTelemetry(
  settings: Pick<ServerSettings, 'metrics'>,
  { tools, env, log }: TelemetryOptions,
): Promise<Telemetry> {
  const signals = otlpSignals(env);
  for (const problem of signals.problems) log.warn(problem);
  const closings: (() => void)[] = [];
  const instance = randomUUID();
  const names = tools.map(({ name }) => name);
  const metrics =
    settings.metrics.type === 'off' && !signals.metrics
      ? undefined
      : (await import('../telemetry/open-metrics.ts')).openMetrics({
          instance,
          tools: names,
          otlp: signals.metrics,
          env,
        });
  const traces = signals.traces
    ? (await import('../telemetry/open-traces.ts')).openTraces({ instance, env })
    : undefined;
  if (signals.metrics || signals.traces)
    (await import('../../shared/telemetry/log-problems.ts')).logTelemetryProblems(log);
  return {
    metrics,
    traces,
    onClose: (act) => void closings.push(act),
    async close() {
      for (const act of closings) act();
      const sent = Promise.allSettled([metrics?.close(), traces?.close()]);
      const results = await resultWithin(systemClock, LAST_SEND_MS, sent);
      if (results?.every(({ status }) => status === 'fulfilled') !== true)
        log.warn('the last metrics or spans could not be sent');
    },
  };
}
