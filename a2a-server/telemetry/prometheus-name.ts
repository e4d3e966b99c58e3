/**
 * Builds the names of metrics for Prometheus, as the OpenTelemetry specification requires ("Prometheus and
 * OpenMetrics").
 */

const UNIT_WORDS: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes', USD: 'USD' };

/**
 * Returns the name with its unit, e.g. `a2a.server.journal.size_bytes`. The exporter replaces the dots, and adds
 * `_total`.
 */
export function metricNameWithUnit({ name, unit }: { name: string; unit: string }): string {
  const word = UNIT_WORDS[unit];
  return word === undefined ? name : `${name}_${word}`;
}
