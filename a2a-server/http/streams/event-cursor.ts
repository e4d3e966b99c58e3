/** Parses a cursor: the `seq` of the last event that a client has seen. */
import { ProductError } from '../../../shared/runtime/errors.ts';

/** A cursor as the client sent it. */
interface RawCursor {
  /** The name of the header or parameter. */
  name: string;
  text: string;
  /** One sentence for the error: the alternative without a cursor. */
  otherwise: string;
}

/**
 * @param end the `seq` of the task's last event.
 * @throws ProductError INVALID_CURSOR if the text is not a position in this journal. Nothing is rounded (S2).
 */
export function parseCursor({ name, text, otherwise }: RawCursor, end: number): number {
  const seq = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (seq === undefined || seq > end)
    throw new ProductError(
      'INVALID_CURSOR',
      `${name} ${JSON.stringify(text.slice(0, 50))} is not a position in this task's events. Valid positions are 0 (before the first event) to ${end}. ${otherwise}`,
      { facts: { last: String(end) } },
    );
  return seq;
}
