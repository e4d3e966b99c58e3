/** Switches the telemetry on that the settings and the OTEL_* variables ask for. Loads the SDK only then. */
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { otlpSignals } from '../telemetry/otlp-signals.ts';
import type { Tool } from '../tools/tool.ts';
import type { ServerSettings } from './settings.ts';

interface TelemetryOptions {
  tools: readonly Pick<Tool, 'name'>[];
  env: Readonly<Record<string, string | undefined>>;
  log: Logger;
}

export interface Telemetry {
  /** Undefined if metrics are switched off. */
  readonly metrics: Metrics | undefined;
  /** Adds work for the end of the server. */
  onClose(act: () => void): void;
  /** Sends the last values. Does not reject. */
  close(): Promise<void>;
}

export async function openTelemetry(
  settings: Pick<ServerSettings, 'metrics'>,
  { tools, env, log }: TelemetryOptions,
): Promise<Telemetry> {
  const signals = otlpSignals(env);
  for (const problem of signals.problems) log.warn(problem);
  const closings: (() => void)[] = [];
  const names = tools.map(({ name }) => name);
  const metrics =
    settings.metrics.type === 'off' && !signals.metrics
      ? undefined
      : (await import('../telemetry/open-metrics.ts')).openMetrics({
          instance: randomUUID(),
          tools: names,
          otlp: signals.metrics,
          env,
        });
  return {
    metrics,
    onClose: (act) => void closings.push(act),
    async close() {
      for (const act of closings) act();
      try {
        await metrics?.close();
      } catch (error) {
        log.warn({ err: error }, 'the last metrics could not be sent');
      }
    },
  };
}
