/** The names and labels of the samples that the server offers to Prometheus. */
import { METRICS } from '../../a2a-server/telemetry/metric-definitions.ts';
import { metricNameWithUnit } from '../../a2a-server/telemetry/prometheus-name.ts';

const SUFFIXES = { counter: ['_total'], gauge: [''], histogram: ['_bucket', '_count', '_sum'] } as const;

const underscored = (name: string): string => name.replaceAll('.', '_');

/** The names of the metrics, as in the `# TYPE` lines. */
export const PROMETHEUS_METRICS: readonly string[] = Object.entries(METRICS).map(([name, { kind, unit }]) =>
  underscored(metricNameWithUnit({ name, unit }) + (kind === 'counter' ? '_total' : '')),
);

/** The labels of each sample, by the name of the sample. */
export const PROMETHEUS_SAMPLES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(METRICS).flatMap(([name, { kind, unit, attributes }]) =>
    SUFFIXES[kind].map((suffix) => [
      underscored(metricNameWithUnit({ name, unit }) + suffix),
      [...attributes.map(underscored), ...(suffix === '_bucket' ? ['le'] : [])],
    ]),
  ),
);
