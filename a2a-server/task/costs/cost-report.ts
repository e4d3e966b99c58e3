import { groupedBy } from '../grouped-by.ts';
import type { CostReport, CostSumView } from '../../../shared/protocol/cost-report.ts';
import { addCosts, utcDayText, NO_COST, type CostRow, type CostSum } from './cost-sum.ts';

const MAX_SESSIONS = 200;

/**
 * Builds the cost report without the titles of the sessions, which the caller must add.
 * @param rows all rows from `fromDay` to `toDay`
 */
export function costReport(
  rows: readonly CostRow[],
  { fromDay, toDay }: { fromDay: number; toDay: number },
): CostReport {
  const sessions = [...groupedBy(rows, ({ sessionId }) => sessionId)]
    .map(([sessionId, own]): CostReport['sessions'][number] => {
      const lastDay = utcDayText(own.reduce((last, { day }) => Math.max(last, day), 0));
      return { sessionId, title: '', lastDay, ...costView(sumCosts(own)) };
    })
    .toSorted((a, b) => b.lastDay.localeCompare(a.lastDay) || byCost(a, b));
  return {
    timeZone: 'UTC',
    from: utcDayText(fromDay),
    to: utcDayText(toDay),
    total: costView(sumCosts(rows)),
    days: [...groupedBy(rows, ({ day }) => day)]
      .toSorted(([a], [b]) => b - a)
      .map(([day, own]) => ({ day: utcDayText(day), ...costView(sumCosts(own)) })),
    sessions: sessions.slice(0, MAX_SESSIONS),
    moreSessions: Math.max(0, sessions.length - MAX_SESSIONS),
    models: [...groupedBy(rows, ({ model }) => model)]
      .map(([model, own]) => ({ model, ...costView(sumCosts(own)) }))
      .toSorted(byCost),
  };
}

export function costView({ knownUsd, unpriced, ...counts }: CostSum): CostSumView {
  return { ...counts, usd: unpriced === 0 ? knownUsd : null, knownUsd, unpricedRequests: unpriced };
}

export function sumCosts(rows: readonly CostSum[]): CostSum {
  return rows.reduce(addCosts, NO_COST);
}

function byCost(a: CostSumView, b: CostSumView): number {
  return b.knownUsd - a.knownUsd || b.inputTokens + b.outputTokens - (a.inputTokens + a.outputTokens);
}
