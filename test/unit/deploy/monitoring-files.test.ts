/** Tests the dashboard and the alert rules of `deploy/`: their PromQL is valid, and names what the server offers. */
import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { METRICS } from '../../../a2a-server/telemetry/metric-definitions.ts';
import { PROMETHEUS_METRICS, PROMETHEUS_SAMPLES } from '../../support/prometheus-series.ts';
import { promqlNames } from '../../support/promql.ts';

const rules = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^A2a[A-Za-z]+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['info', 'warning', 'critical']) }),
          annotations: z.strictObject({ summary: z.string(), action: z.string() }),
        }),
      ),
    }),
  ),
});
const dashboard = z.looseObject({
  uid: z.string(),
  templating: z.object({ list: z.array(z.looseObject({ name: z.string(), query: z.string() })) }),
  panels: z.array(
    z.looseObject({
      id: z.number(),
      title: z.string(),
      description: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      targets: z.array(z.looseObject({ refId: z.string(), expr: z.string() })).min(1),
    }),
  ),
});

/** Prometheus adds these itself. */
const SCRAPED = { metrics: ['up'], labels: ['job', 'instance'] };

const read = (name: string): Promise<string> => readFile(`deploy/${name}`, 'utf8');
const readRules = async () => {
  const { groups } = rules.parse(parse(await read('prometheus-alerts.yaml')));
  return groups.flatMap((group) => group.rules);
};
const readDashboard = async () => dashboard.parse(JSON.parse(await read('grafana-dashboard.json')));

/** Grafana replaces these before it asks Prometheus. */
const asPromql = (expr: string): string => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.+');

/** Returns what an expression names and the server does not offer. */
function unknownIn(expr: string): string[] {
  const { metrics, labels } = promqlNames(asPromql(expr));
  expect(metrics.length).toBeGreaterThan(0);
  const offered = metrics.flatMap((name) => PROMETHEUS_SAMPLES.get(name) ?? []);
  return [
    ...metrics.filter((name) => !PROMETHEUS_SAMPLES.has(name) && !SCRAPED.metrics.includes(name)),
    ...labels.filter((label) => !offered.includes(label) && !SCRAPED.labels.includes(label)),
  ];
}

describe('the alert rules', () => {
  it('have PromQL that names only metrics and labels of the server', async () => {
    const all = await readRules();
    expect(all.length).toBeGreaterThan(5);
    expect(new Set(all.map(({ alert }) => alert)).size).toBe(all.length);
    expect(all.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
  });

  it('name in their texts only labels that their expression keeps', async () => {
    for (const { expr, annotations } of await readRules()) {
      const { labels, metrics } = promqlNames(expr);
      const kept = /\b(?:sum|max|min)\b/.test(expr)
        ? labels
        : [...labels, ...SCRAPED.labels, ...metrics.flatMap((name) => PROMETHEUS_SAMPLES.get(name) ?? [])];
      const named = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
      expect(named.filter((label) => !kept.includes(label))).toEqual([]);
    }
  });
});

describe('the dashboard', () => {
  it('has PromQL that names only metrics and labels of the server, and shows every metric', async () => {
    const { panels, templating } = await readDashboard();
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.flatMap(unknownIn)).toEqual([]);
    const shown = expressions.join('\n');
    expect(PROMETHEUS_METRICS.filter((name) => !shown.includes(name))).toEqual([]);
    const values = templating.list.map(({ query }) => /^label_values\((\w+), job\)$/.exec(query)?.[1]);
    expect(values.filter((name) => name !== undefined && !PROMETHEUS_SAMPLES.has(name))).toEqual([]);
  });

  it('has panels with their own ids that do not overlap', async () => {
    const { panels } = await readDashboard();
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

it('docs/monitoring.md names each metric', async () => {
  const page = await readFile('docs/monitoring.md', 'utf8');
  expect(PROMETHEUS_METRICS.length).toBe(Object.keys(METRICS).length);
  expect(PROMETHEUS_METRICS.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
