/**
 * Many events in one row: a model's text comes in pieces of a few characters, and each in a row of its own costs ten
 * times what it says. A packed row holds neighbours that differ in nothing but their text; unpacked, they are letter for
 * letter what they were, each with its own `seq` and time (J1).
 *
 * Its key is the `seq` of its last event, so that "what follows this cursor" finds it by the same key as any other row.
 */
import type { JournalEntry, TaskEvent } from '../../task/events.ts';
import { SqliteFailure } from './driver.ts';

/** Events in one row, at most: a reader in its middle unpacks all of them. */
export const LONGEST_ROW = 512;

/** In UTF-16 code units of text. */
const LONGEST_TEXT = 32 * 1024;

/** Fewer than this are left as they are. */
const WORTHWHILE = 8;

/** What neighbours in a row have in common. */
type Shape =
  | Omit<Extract<TaskEvent, { type: 'text.delta' }>, 'text'>
  | Omit<Extract<TaskEvent, { type: 'tool.output' }>, 'text'>;

/** Neighbours that go into one row. */
export interface Run {
  of: Shape;
  entries: { seq: number; at: number; text: string }[];
}

interface PackedRow {
  of: Shape;
  /** How many events in a row came at which time. */
  at: [count: number, at: number][];
  texts: string[];
}

/** The runs among these entries, which follow one another, that are worth a row of their own. */
export function runsIn(entries: readonly JournalEntry[]): Run[] {
  const runs: Run[] = [];
  let open: { run: Run; shape: string; characters: number } | undefined;
  for (const { seq, at, event } of entries) {
    if (event.type !== 'text.delta' && event.type !== 'tool.output') {
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

export function pack({ of, entries }: Run): string {
  const times: PackedRow['at'] = [];
  for (const { at } of entries) {
    const last = times.at(-1);
    if (last?.[1] === at) last[0] += 1;
    else times.push([1, at]);
  }
  const row: PackedRow = { of, at: times, texts: entries.map(({ text }) => text) };
  return JSON.stringify(row);
}

/** Where a row's events lie in the journal. */
export interface Extent {
  first: number;
  last: number;
}

/**
 * The entries of a packed row with `seq` greater than `after`, `limit` of them at most.
 * @throws SqliteFailure SQLITE_CORRUPT for a row that does not hold what its key says
 */
export function unpack(
  body: string,
  { first, last }: Extent,
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
  return new SqliteFailure('SQLITE_CORRUPT', 'a packed row is not what was written', cause);
}
