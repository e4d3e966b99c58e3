/**
 * Reads the journal of a task in pages of a limited size. S3: a stream keeps one page while its client does not read.
 * So a page has few entries if the entries are large.
 */
import type { SqlRow } from '../../shared/state/sql-row.ts';
import type { JournalEntry } from '../task/events.ts';
import { journalEntriesOfRow } from './packed-row.ts';
import { integerColumn } from './validate-column-values.ts';

/** Adjacent entries. A page is empty only if the journal has no entry after the position. */
export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  /** True if the journal had no later entry. It may be false at the end of the journal. */
  readonly isLast: boolean;
}

export const EMPTY_PAGE: JournalPage = { entries: [], isLast: true };

export const PAGE_ENTRIES = 256;

/**
 * A page ends with the entry, or the row of packed entries, that reaches this size of JSON. This last part of a page
 * may have any size. Rows are measured in bytes, cached entries in UTF-16 units.
 */
const PAGE_BYTES = 64 * 1024;

/**
 * Returns the query for the first rows that reach the size of a page. It reads the bodies of these rows only, because all
 * bodies together may be large.
 * @param rows returns a query for the given columns of ordered event rows
 */
export function selectPage(rows: (columns: string) => string): string {
  return `WITH sizes AS (${rows('task, seq, octet_length(body) AS size')}),
            sums AS (SELECT *, sum(size) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) AS bytes FROM sizes)
          SELECT seq, at, body, first, bytes FROM sums JOIN events USING (task, seq)
          WHERE bytes - size < ${PAGE_BYTES} ORDER BY seq`;
}

/** Returns the page with the rows of `selectPage`. @throws DamagedDataError */
export function pageOfRows(rows: readonly SqlRow[], after: number): JournalPage {
  const entries = rows.flatMap((row) => journalEntriesOfRow(row, { after, limit: PAGE_ENTRIES }));
  return { entries, isLast: !isPageFull(entries.length, integerColumn(rows.at(-1)?.[4] ?? 0)) };
}

export function isPageFull(entries: number, bytes: number): boolean {
  return entries >= PAGE_ENTRIES || bytes >= PAGE_BYTES;
}
