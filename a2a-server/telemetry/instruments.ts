/** Creates the instruments of the metric definitions in a meter. */
import type { BatchObservableResult, Counter, Histogram, Meter, ObservableGauge } from '@opentelemetry/api';
import { METRICS, type MetricName } from './metric-definitions.ts';

type NamesOf<Kind extends string> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];

/** The attributes of a metric. Only the attributes of its definition are allowed. */
type MetricAttributes<Name extends MetricName> = {
  [Key in (typeof METRICS)[Name]['attributes'][number]]?: string | number;
};

export interface Instruments {
  add<Name extends NamesOf<'counter'>>(name: Name, value: number, attributes: MetricAttributes<Name>): void;
  record<Name extends NamesOf<'histogram'>>(
    name: Name,
    value: number,
    attributes: MetricAttributes<Name>,
  ): void;
  /** Calls `read` at each measurement. `read` sets the values of the gauges. */
  observe(read: (set: SetGauge) => Promise<void>): void;
}

export type SetGauge = <Name extends NamesOf<'gauge'>>(
  name: Name,
  value: number,
  attributes?: MetricAttributes<Name>,
) => void;

export function createInstruments(meter: Meter): Instruments {
  const counters = new Map<string, Counter>();
  const histograms = new Map<string, Histogram>();
  const gauges = new Map<string, ObservableGauge>();
  for (const [name, definition] of Object.entries(METRICS)) {
    const { description, unit } = definition;
    switch (definition.kind) {
      case 'counter':
        counters.set(name, meter.createCounter(name, { description, unit }));
        break;
      case 'histogram': {
        const advice = { explicitBucketBoundaries: [...definition.bounds] };
        histograms.set(name, meter.createHistogram(name, { description, unit, advice }));
        break;
      }
      case 'gauge':
        gauges.set(name, meter.createObservableGauge(name, { description, unit }));
        break;
    }
  }
  return {
    add: (name, value, attributes) => counters.get(name)?.add(value, attributes),
    record: (name, value, attributes) => histograms.get(name)?.record(value, attributes),
    observe(read) {
      const each = (result: BatchObservableResult): Promise<void> =>
        read((name, value, attributes = {}) => {
          const gauge = gauges.get(name);
          if (gauge !== undefined) result.observe(gauge, value, attributes);
        });
      meter.addBatchObservableCallback(each, [...gauges.values()]);
    },
  };
}
