/** Compares the stored sums of costs with the events. J2: the sums must follow from the events. */
import { addCosts, costsOfEvents, utcDay, type CostSum } from '../../task/costs/cost-sum.ts';
import type { JournalEntry } from '../../task/events.ts';
import { textColumn } from '../validate-column-values.ts';
import { toCostRow, COST_COLUMNS_SQL, DELETED_SESSIONS_ID } from '../cost-row.ts';
import type { Sqlite } from '../../../shared/sqlite/driver.ts';

export class RecomputedCosts {
  readonly #sums = new Map<string, CostSum>();

  /** Adds the costs of one task. @param entries all entries of the task */
  add(task: { principal: string; sessionId: string }, entries: readonly JournalEntry[]): void {
    let openModel: string | null = null;
    for (const { at, event } of entries) {
      const counted = costsOfEvents([event], openModel);
      ({ openModel } = counted);
      for (const { model, cost } of counted.costs) {
        const key = keyOf({ ...task, day: utcDay(at), model });
        const before = this.#sums.get(key);
        this.#sums.set(key, before === undefined ? cost : addCosts(before, cost));
      }
    }
  }

  differences(database: Sqlite): string[] {
    const sessions = new Set<string>();
    const left = new Map(this.#sums);
    const rows = database.query(
      `SELECT ${COST_COLUMNS_SQL}, principal FROM costs WHERE session_id <> '${DELETED_SESSIONS_ID}'`,
    )();
    for (const row of rows) {
      const { day, sessionId, model, ...sum } = toCostRow(row);
      const key = keyOf({ principal: textColumn(row.at(-1)), sessionId: sessionId ?? '', day, model });
      const expected = left.get(key);
      left.delete(key);
      if (expected === undefined || !isSameSum(expected, sum)) sessions.add(sessionId ?? '');
    }
    for (const key of left.keys()) sessions.add(sessionOf(key));
    return [...sessions].map((id) => `The costs of session ${id} differ from its events.`);
  }
}

interface CostKey {
  principal: string;
  sessionId: string;
  day: number;
  model: string;
}

function keyOf({ principal, sessionId, day, model }: CostKey): string {
  return JSON.stringify([sessionId, principal, day, model]);
}

function sessionOf(key: string): string {
  const [sessionId]: [string] = JSON.parse(key);
  return sessionId;
}

/**
 * The largest accepted difference for sums of at most one dollar, in dollars. For a larger sum, the accepted difference
 * grows with the sum. The last digits of a sum depend on the order of its additions.
 */
const TOLERANCE = 1e-9;

function isSameSum(a: CostSum, b: CostSum): boolean {
  return (
    a.requests === b.requests &&
    a.unpriced === b.unpriced &&
    a.inputTokens === b.inputTokens &&
    a.outputTokens === b.outputTokens &&
    a.cachedInputTokens === b.cachedInputTokens &&
    a.cacheWriteTokens === b.cacheWriteTokens &&
    Math.abs(a.knownUsd - b.knownUsd) <= TOLERANCE * Math.max(1, a.knownUsd)
  );
}
