import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { costReport, costView, sumCosts } from '../../../../../a2a-server/task/costs/cost-report.ts';
import {
  addCosts,
  utcDayText,
  NO_COST,
  costsOfEvents,
  utcDay,
  type CostRow,
} from '../../../../../a2a-server/task/costs/cost-sum.ts';
import type { TaskEvent, TokenUsage } from '../../../../../a2a-server/task/events.ts';
import { numberOfRuns } from '../../../../support/property-runs.ts';

const tokens = fc.nat({ max: 1_000_000 });
/** Uses eighths of a dollar, because their sum is exact in any order. */
const dollars = fc.nat({ max: 8_000 }).map((eighths) => eighths / 8);

const row: fc.Arbitrary<CostRow> = fc.record({
  day: fc.integer({ min: 20_000, max: 20_010 }),
  sessionId: fc.option(fc.constantFrom('a', 'b', 'c')),
  model: fc.constantFrom('offline', 'openai:gpt-4o', 'ollama:qwen3'),
  requests: fc.integer({ min: 1, max: 50 }),
  inputTokens: tokens,
  outputTokens: tokens,
  cachedInputTokens: tokens,
  cacheWriteTokens: tokens,
  knownUsd: dollars,
  unpriced: fc.nat({ max: 3 }),
});

const DAY_MS = 86_400_000;

const finished = (usage: TokenUsage, usd?: number): TaskEvent => ({
  type: 'turn.finished',
  turn: 1,
  end: 'stop',
  usage,
  ...(usd !== undefined && { usd }),
});
const started = (model: string): TaskEvent => ({ type: 'turn.started', turn: 1, model });

describe('a UTC day', () => {
  it('begins at midnight UTC and lasts 24 hours, on every day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40_000 }), fc.nat({ max: DAY_MS - 1 }), (day, ms) => {
        expect(utcDay(day * DAY_MS + ms)).toBe(day);
        expect(utcDayText(day)).toBe(new Date(day * DAY_MS + ms).toISOString().slice(0, 10));
      }),
      { numRuns: numberOfRuns(200) },
    );
  });
});

describe('the costs of requests in events', () => {
  const usage = { inputTokens: 10, outputTokens: 2 };

  it('the costs name the turn’s model, also if the turn started in an earlier append', () => {
    const first = costsOfEvents([started('a')], null);
    expect(first).toEqual({ costs: [], openModel: 'a' });
    const { costs } = costsOfEvents([finished(usage, 0.5), started('b'), finished(usage)], first.openModel);
    expect(costs).toEqual([
      { model: 'a', cost: { ...NO_COST, ...usage, requests: 1, knownUsd: 0.5 } },
      { model: 'b', cost: { ...NO_COST, ...usage, requests: 1, unpriced: 1 } },
    ]);
  });

  it('the costs contain the summaries that a model wrote, and no summary without a model', () => {
    const summary = { type: 'context.summarised', upTo: { taskId: 't', turn: 1 }, summary: 's' } as const;
    const events: TaskEvent[] = [
      { ...summary, model: 'a', usage, usd: 0.25 },
      { ...summary, model: null, usage: { inputTokens: 0, outputTokens: 0 } },
    ];
    expect(costsOfEvents(events, null).costs).toEqual([
      { model: 'a', cost: { ...NO_COST, ...usage, requests: 1, knownUsd: 0.25 } },
    ]);
  });

  it('the costs do not depend on how the events are split into appends', () => {
    const event = fc.oneof(
      fc.constantFrom('a', 'b').map(started),
      fc
        .tuple(tokens, tokens, fc.option(dollars, { nil: undefined }))
        .map(([inputTokens, outputTokens, usd]) => finished({ inputTokens, outputTokens }, usd)),
    );
    fc.assert(
      fc.property(fc.array(event), fc.nat(), (events, cut) => {
        const at = events.length === 0 ? 0 : cut % events.length;
        const whole = costsOfEvents(events, null);
        const first = costsOfEvents(events.slice(0, at), null);
        const then = costsOfEvents(events.slice(at), first.openModel);
        expect({ costs: [...first.costs, ...then.costs], openModel: then.openModel }).toEqual(whole);
      }),
      { numRuns: numberOfRuns(200) },
    );
  });

  it('X3 the costs are finite whole numbers for any report of a provider', () => {
    const strange = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Infinity, -1, 0.5, 1e300));
    fc.assert(
      fc.property(
        fc.array(strange, { minLength: 5, maxLength: 5 }),
        ([a = 0, b = 0, c = 0, d = 0, usd = 0]) => {
          const reported = { inputTokens: a, outputTokens: b, cachedInputTokens: c, cacheWriteTokens: d };
          const [{ cost } = { cost: NO_COST }] = costsOfEvents(
            [started('a'), finished(reported, usd)],
            null,
          ).costs;
          const { knownUsd, ...counts } = cost;
          expect(Object.values(counts).every((each) => Number.isSafeInteger(each) && each >= 0)).toBe(true);
          expect(Number.isFinite(knownUsd) && knownUsd >= 0).toBe(true);
        },
      ),
      { numRuns: numberOfRuns(500) },
    );
  });

  it('the costs are zero for zero tokens, also without a price', () => {
    const [free] = costsOfEvents([started('a'), finished({ inputTokens: 0, outputTokens: 0 })], null).costs;
    expect(free?.cost).toEqual({ ...NO_COST, requests: 1 });
  });
});

describe('a report of costs', () => {
  const range = { fromDay: 20_000, toDay: 20_010 };

  it('the report has the same total by day, by session and by model', () => {
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const { total, days, sessions, models } = costReport(rows, range);
        for (const parts of [days, sessions, models]) {
          const all = parts
            .map((part) => ({ ...NO_COST, ...part, unpriced: part.unpricedRequests }))
            .reduce(addCosts, NO_COST);
          expect(costView(all)).toEqual(total);
        }
      }),
      { numRuns: numberOfRuns(200) },
    );
  });

  it('the report does not depend on the order of its rows', () => {
    fc.assert(
      fc.property(fc.array(row), fc.array(fc.nat(), { minLength: 1 }), (rows, order) => {
        const mixed = rows
          .map((each, index) => ({ each, place: order[index % order.length] ?? 0 }))
          .toSorted((a, b) => a.place - b.place)
          .map(({ each }) => each);
        expect(sumCosts(mixed)).toEqual(sumCosts(rows));
        expect(costReport(mixed, range).days).toEqual(costReport(rows, range).days);
      }),
      { numRuns: numberOfRuns(200) },
    );
  });

  it('if one price is unknown, the report has no total price, and gives the sum of the known prices', () => {
    const priced = { ...NO_COST, requests: 1, inputTokens: 1, knownUsd: 0.5 };
    const rows: CostRow[] = [
      { day: 20_000, sessionId: 'a', model: 'known', ...priced },
      { day: 20_001, sessionId: 'a', model: 'unknown', ...NO_COST, requests: 2, unpriced: 2, inputTokens: 9 },
    ];
    const report = costReport(rows, range);
    expect(report.total).toMatchObject({ usd: null, knownUsd: 0.5, unpricedRequests: 2 });
    expect(report.days.map(({ day, usd }) => [day, usd])).toEqual([
      ['2024-10-05', null],
      ['2024-10-04', 0.5],
    ]);
    expect(report).toMatchObject({ timeZone: 'UTC', from: '2024-10-04', to: '2024-10-14' });
  });

  it('the report lists at most 200 sessions, the latest day first, and counts the others', () => {
    const rows = Array.from({ length: 250 }, (_, index): CostRow => ({
      ...NO_COST,
      day: 20_000 + (index % 3),
      sessionId: `s${index}`,
      model: 'm',
      requests: 1,
      knownUsd: index,
    }));
    const { sessions, moreSessions, total } = costReport(rows, range);
    expect([sessions.length, moreSessions, total.requests]).toEqual([200, 50, 250]);
    expect(sessions[0]).toMatchObject({ sessionId: 's248', lastDay: '2024-10-06', usd: 248 });
  });

  it('the report keeps the sum of deleted sessions as one line without an id', () => {
    const rows: CostRow[] = ['x', 'y'].map((model) => ({
      ...NO_COST,
      day: 20_000,
      sessionId: null,
      model,
      requests: 1,
    }));
    expect(costReport(rows, range).sessions).toMatchObject([{ sessionId: null, requests: 2 }]);
  });
});
