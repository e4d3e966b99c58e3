/**
 * Packs many events into one row. A model's text arrives in chunks of a few characters. With one row per chunk, the
 * rows need ten times the space of the text. A packed row contains adjacent events that differ only in their text. J1:
 * unpacking returns exactly the same events, each with its `seq` and time.
 *
 * The key of a packed row is the `seq` of its last event. A query for the rows after a cursor therefore finds packed
 * rows too.
 */
import { DamagedDataError } from '../../shared/runtime/damaged-data-error.ts';
import type { SqlRow } from '../../shared/state/sql-row.ts';
import type { JournalEntry, TaskEvent } from '../task/events.ts';
import { integerColumn, nullableIntegerColumn, textColumn } from './validate-column-values.ts';

/** The maximum number of events in a row. A reader must unpack all of them, even if it needs only one. */
export const MAX_EVENTS_PER_ROW = 512;

const MAX_TEXT_UNITS = 32 * 1024;

/** The minimum number of events in a packed row. Fewer events save too little space. */
const MIN_EVENTS_PER_ROW = 8;

const MISFIT = 'a packed row does not fit its key';

type EventWithoutText =
  | Omit<Extract<TaskEvent, { type: 'text.delta' | 'reasoning.delta' }>, 'text'>
  | Omit<Extract<TaskEvent, { type: 'tool.output' }>, 'text'>;

interface PackedRun {
  of: EventWithoutText;
  entries: { seq: number; at: number; text: string }[];
}

interface PackedRow {
  of: EventWithoutText;
  /** The times of the events, run-length encoded. Each pair has a number of consecutive events and their time. */
  at: [count: number, at: number][];
  texts: string[];
}

/**
 * Returns groups of adjacent events that can share a row.
 * @param rows rows of one task. If a row is damaged, the result is empty, so this task keeps its rows. Other tasks are
 * still packed.
 */
export function findPackableEventRuns(rows: readonly SqlRow[]): PackedRun[] {
  try {
    return packableRuns(rows.flatMap((row) => journalEntriesOfRow(row)));
  } catch (error) {
    if (error instanceof DamagedDataError) return [];
    throw error;
  }
}

function packableRuns(entries: readonly JournalEntry[]): PackedRun[] {
  const runs: PackedRun[] = [];
  let open: { run: PackedRun; shape: string; characters: number } | undefined;
  for (const { seq, at, event } of entries) {
    if (!isPackable(event)) {
      open = undefined;
      continue;
    }
    const { text, ...of } = event;
    const shape = JSON.stringify(of);
    const fits =
      open?.shape === shape &&
      open.run.entries.length < MAX_EVENTS_PER_ROW &&
      open.characters + text.length <= MAX_TEXT_UNITS;
    if (!open || !fits) {
      open = { run: { of, entries: [] }, shape, characters: 0 };
      runs.push(open.run);
    }
    open.run.entries.push({ seq, at, text });
    open.characters += text.length;
  }
  return runs.filter((run) => run.entries.length >= MIN_EVENTS_PER_ROW);
}

function isPackable(
  event: TaskEvent,
): event is Extract<TaskEvent, { type: 'text.delta' | 'reasoning.delta' | 'tool.output' }> {
  return event.type === 'text.delta' || event.type === 'reasoning.delta' || event.type === 'tool.output';
}

export function packedRowBody({ of, entries }: PackedRun): string {
  const times: PackedRow['at'] = [];
  for (const { at } of entries) {
    const last = times.at(-1);
    if (last?.[1] === at) last[0] += 1;
    else times.push([1, at]);
  }
  const row: PackedRow = { of, at: times, texts: entries.map(({ text }) => text) };
  return JSON.stringify(row);
}

const ALL_ENTRIES = { after: 0, limit: Number.MAX_SAFE_INTEGER };

/**
 * Returns the entries of a row `[seq, at, body, first]`. `first` is null if the row contains one event. For a packed
 * row, returns the requested part.
 * @throws DamagedDataError
 */
export function journalEntriesOfRow(row: SqlRow, asked = ALL_ENTRIES): JournalEntry[] {
  const [seq, at, body] = [integerColumn(row[0]), integerColumn(row[1]), textColumn(row[2])];
  const first = nullableIntegerColumn(row[3]);
  if (first === null) return [{ seq, at, event: parseEvent(body) }];
  return unpackEntries(body, { first, last: seq }, asked);
}

interface SeqRange {
  first: number;
  last: number;
}

/**
 * Returns at most `limit` entries of a packed row, with `seq` greater than `after`.
 * @throws DamagedDataError if the row does not fit its key
 */
function unpackEntries(
  body: string,
  { first, last }: SeqRange,
  { after, limit }: { after: number; limit: number },
): JournalEntry[] {
  const { of, at, texts } = parsePackedRow(body);
  if (texts.length !== last - first + 1) throwDamaged(MISFIT);
  const [from, to] = [Math.max(first, after + 1), Math.min(last, after + limit)];
  const entries: JournalEntry[] = [];
  let seq = first;
  for (const [count, time] of at) {
    const end = seq + count;
    for (seq = Math.max(seq, from); seq < end && seq <= to; seq += 1) {
      const text = texts[seq - first];
      if (text === undefined) return throwDamaged(MISFIT);
      entries.push({ seq, at: time, event: { ...of, text } });
    }
    seq = end;
  }
  if (seq !== last + 1) throwDamaged(MISFIT);
  return entries;
}

/** Parses the JSON of an event. Only a damaged database contains other text. @throws DamagedDataError */
function parseEvent(body: string): TaskEvent {
  let event: TaskEvent | null;
  try {
    event = JSON.parse(body);
  } catch (error) {
    throw new DamagedDataError('an event is not valid JSON', error);
  }
  return event ?? throwDamaged('an event is null');
}

function parsePackedRow(body: string): PackedRow {
  let row: PackedRow | null;
  try {
    row = JSON.parse(body);
  } catch (error) {
    throw new DamagedDataError(MISFIT, error);
  }
  return row ?? throwDamaged(MISFIT);
}

function throwDamaged(problem: string): never {
  throw new DamagedDataError(problem);
}
