import { ProductError } from '../../../shared/runtime/errors.ts';
import { fieldOf } from '../../../shared/runtime/record.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../../shared/protocol/resumable-stream-extension.ts';

interface RawCursor {
  name: string;
  text: string;
  /** One sentence of the error message. The sentence tells the client what to do without a cursor. */
  otherwise: string;
}

/**
 * Returns the position that the cursor names: a `seq`, or a generation (A2A 1.1: the number of events that the client can
 * see, see `task/generation.ts`). S2: a cursor after the last event is an error. It is never moved to the last event.
 * @param end the position of the task's last event
 * @throws ProductError INVALID_CURSOR if the text is not a position in this journal
 */
export function parseCursor({ name, text, otherwise }: RawCursor, end: number): number {
  const position = parsePosition(text);
  if (position === undefined || position > end)
    throw new ProductError(
      'INVALID_CURSOR',
      `${name} ${JSON.stringify(text.slice(0, 50))} is not a position in this task's events. Valid positions are 0 (before the first event) to ${end}. ${otherwise}`,
      { facts: { last: String(end) } },
    );
  return position;
}

/** Returns the number that the text names. Undefined if it is not a whole number from 0. */
export function parsePosition(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/**
 * Returns the SSE id of an encoded event. The id is the `seq` in the metadata of the resumable-stream extension.
 * Without that extension, it is the generation, if the event has one.
 * @param event an encoded Task or update event. In A2A 1.0, the object is inside a field with the name of its type. In
 *   0.3 it is not.
 */
export function sseIdOfEvent(event: unknown): string | undefined {
  const payload =
    fieldOf(event, 'artifactUpdate') ?? fieldOf(event, 'statusUpdate') ?? fieldOf(event, 'task') ?? event;
  const seq = fieldOf(fieldOf(fieldOf(payload, 'metadata'), RESUMABLE_STREAM_EXTENSION), 'seq');
  if (typeof seq === 'number') return String(seq);
  const generation = fieldOf(payload, 'generation');
  return typeof generation === 'string' ? generation : undefined;
}
