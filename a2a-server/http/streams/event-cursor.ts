import { ProductError } from '../../../shared/runtime/errors.ts';
import { fieldOf } from '../../../shared/runtime/record.ts';
import { RESUMABLE_STREAM } from '../../../shared/protocol/resumable-stream-extension.ts';

interface RawCursor {
  name: string;
  text: string;
  /** One sentence of the error message. The sentence tells the client what to do without a cursor. */
  otherwise: string;
}

/**
 * Returns the `seq` that the cursor names. Never rounds (S2).
 * @param end the `seq` of the task's last event
 * @throws ProductError INVALID_CURSOR if the text is not a position in this journal
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

/**
 * Returns the SSE id of an encoded event. The id is the `seq` in the metadata of the resumable-stream extension.
 * @param event an encoded Task or update event. In A2A 1.0, the object is inside a field with the name of its type. In
 *   0.3 it is not.
 */
export function eventPosition(event: unknown): string | undefined {
  const payload =
    fieldOf(event, 'artifactUpdate') ?? fieldOf(event, 'statusUpdate') ?? fieldOf(event, 'task') ?? event;
  const seq = fieldOf(fieldOf(fieldOf(payload, 'metadata'), RESUMABLE_STREAM), 'seq');
  return typeof seq === 'number' ? String(seq) : undefined;
}
