/**
 * Packs many events into one row. A model's text arrives in pieces of a few characters, and one row per piece takes ten
 * times the space of the text. A packed row contains adjacent events that differ only in their text. `unpackEntries` returns
 * exactly the same events, each with its `seq` and time (J1).
 *
 * The key of a packed row is the `seq` of its last event. So a query for the rows after a cursor also finds packed
 * rows.
 */
import type { JournalEntry, TaskEvent } from '../../task/events.ts';
import { SqliteFailure } from '../../../shared/sqlite/driver.ts';

/** The maximum number of events in a row. A reader must unpack all of them, even if it needs only one. */
export const LONGEST_ROW = 512;

/** The maximum length of a row's text, in UTF-16 code units. */
const LONGEST_TEXT = 32 * 1024;

/** The minimum number of events in a packed row. Fewer events save too little space. */
const WORTHWHILE = 8;

/** The common fields of the events in a row. */
type Shape =
  | Omit<Extract<TaskEvent, { type: 'text.delta' | 'reasoning.delta' }>, 'text'>
  | Omit<Extract<TaskEvent, { type: 'tool.output' }>, 'text'>;

/** Adjacent events to pack into one row. */
interface PackedRun {
  of: Shape;
  entries: { seq: number; at: number; text: string }[];
}

interface PackedRow {
  of: Shape;
  /** The times of the events, run-length encoded: the number of consecutive events, and their time. */
  at: [count: number, at: number][];
  texts: string[];
}

/** Finds the runs to pack among these consecutive entries. */
export function packableRuns(entries: readonly JournalEntry[]): PackedRun[] {
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
      open.run.entries.length < LONGEST_ROW &&
      open.characters + text.length <= LONGEST_TEXT;
    if (!open || !fits) {
      open = { run: { of, entries: [] }, shape, characters: 0 };
      runs.push(open.run);
    }
    open.run.entries.push({ seq, at, text });
    open.characters += text.length;
  }
  return runs.filter((run) => run.entries.length >= WORTHWHILE);
}

function isPackable(
  event: TaskEvent,
): event is Extract<TaskEvent, { type: 'text.delta' | 'reasoning.delta' | 'tool.output' }> {
  return event.type === 'text.delta' || event.type === 'reasoning.delta' || event.type === 'tool.output';
}

export function packRun({ of, entries }: PackedRun): string {
  const times: PackedRow['at'] = [];
  for (const { at } of entries) {
    const last = times.at(-1);
    if (last?.[1] === at) last[0] += 1;
    else times.push([1, at]);
  }
  const row: PackedRow = { of, at: times, texts: entries.map(({ text }) => text) };
  return JSON.stringify(row);
}

/** The first and last `seq` of a row. */
interface SeqRange {
  first: number;
  last: number;
}

/**
 * Returns the entries of a packed row with `seq` greater than `after`, at most `limit`.
 * @throws SqliteFailure SQLITE_CORRUPT if the row does not fit its key
 */
export function unpackEntries(
  body: string,
  { first, last }: SeqRange,
  { after, limit }: { after: number; limit: number },
): JournalEntry[] {
  const { of, at, texts } = parse(body);
  if (texts.length !== last - first + 1) throw damaged(undefined);
  const [from, to] = [Math.max(first, after + 1), Math.min(last, after + limit)];
  const entries: JournalEntry[] = [];
  let seq = first;
  for (const [count, time] of at) {
    const end = seq + count;
    for (seq = Math.max(seq, from); seq < end && seq <= to; seq += 1) {
      const text = texts[seq - first];
      if (text === undefined) throw damaged(undefined);
      entries.push({ seq, at: time, event: { ...of, text } });
    }
    seq = end;
  }
  if (seq !== last + 1) throw damaged(undefined);
  return entries;
}

function parse(body: string): PackedRow {
  try {
    const row: PackedRow = JSON.parse(body);
    return row;
  } catch (error) {
    throw damaged(error);
  }
}

function damaged(cause: unknown): SqliteFailure {
  return new SqliteFailure('SQLITE_CORRUPT', 'a packed row does not fit its key', cause);
}
