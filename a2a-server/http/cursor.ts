/** A cursor: the `seq` of the last event a client has seen. What follows it is what the client has not. */
import { ProductError } from '../../shared/errors.ts';

/** A cursor as a client wrote it. */
export interface WrittenCursor {
  /** Where it was found: a header's name, or a parameter's. */
  name: string;
  text: string;
  /** What a client without one may do, as a sentence. */
  otherwise: string;
}

/**
 * @param end the `seq` of the task's last event.
 * @throws ProductError INVALID_CURSOR for anything that is no position in this journal: nothing is rounded (S2).
 */
export function parseCursor({ name, text, otherwise }: WrittenCursor, end: number): number {
  const seq = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (seq === undefined || seq > end)
    throw new ProductError(
      'INVALID_CURSOR',
      `${name} ${JSON.stringify(text.slice(0, 50))} is no position in this task's events: they run from 0, before the first, to ${end}. ${otherwise}`,
      { facts: { last: String(end) } },
    );
  return seq;
}
