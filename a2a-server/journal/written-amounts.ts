/** Defines the amounts of written data: of a task in total, and of each principal per UTC day. */
import type { PreparedAppend } from './prepared-append.ts';

export interface WrittenAmount {
  events: number;
  /** The length of the events' JSON in UTF-16 code units, and the bytes of the saved file contents. */
  bytes: number;
}

/**
 * What was written on one UTC day. `tenant` is absent if the principal has no tenant. `server` covers all principals.
 */
export interface DailyWrittenByScope {
  principal: WrittenAmount;
  tenant?: WrittenAmount;
  server: WrittenAmount;
}

/**
 * The number of days before today whose amounts are kept. If a clock was ahead and is set back, the amounts of the
 * correct day still exist.
 */
export const KEPT_DAYS = 31;

export const NOTHING_WRITTEN: WrittenAmount = { events: 0, bytes: 0 };

export function writtenAmountOf({
  bodies,
  contents = [],
}: Pick<PreparedAppend, 'bodies' | 'contents'>): WrittenAmount {
  let bytes = 0;
  for (const body of bodies) bytes += body.length;
  for (const content of contents) bytes += content.bytes.length;
  return { events: bodies.length, bytes };
}

export function addWrittenAmounts(one: WrittenAmount, other: WrittenAmount): WrittenAmount {
  return { events: one.events + other.events, bytes: one.bytes + other.bytes };
}
