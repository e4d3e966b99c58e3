/** Reads the metrics and labels of a PromQL expression with Prometheus's own grammar. */
import { parser } from '@prometheus-io/lezer-promql';

export interface PromqlNames {
  metrics: string[];
  /** The labels that the expression matches, or groups by. */
  labels: string[];
}

/** @throws if the expression is not PromQL */
export function promqlNames(expression: string): PromqlNames {
  const names: PromqlNames = { metrics: [], labels: [] };
  parser.parse(expression).iterate({
    enter({ type, node, from, to }) {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`not PromQL at character ${from}: ${expression}`);
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') names.metrics.push(text);
      if (type.name === 'LabelName') names.labels.push(text);
    },
  });
  return names;
}
