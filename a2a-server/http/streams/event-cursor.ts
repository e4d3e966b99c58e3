/** The position of an event in its stream: parses a client's cursor, and reads the SSE id of an encoded event. Both are the event's `seq`. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { RESUMABLE_STREAM } from '../../../shared/protocol/resumable-stream-extension.ts';

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

/**
 * The SSE id of an encoded event: the `seq` in the metadata of the resumable-stream extension.
 * @param event an encoded Task or update event. In 1.0 a field that names its type wraps it; in 0.3 nothing does.
 */
export function eventPosition(event: unknown): string | undefined {
  const payload =
    field(event, 'artifactUpdate') ?? field(event, 'statusUpdate') ?? field(event, 'task') ?? event;
  const seq = field(field(field(payload, 'metadata'), RESUMABLE_STREAM), 'seq');
  return typeof seq === 'number' ? String(seq) : undefined;
}

function field(of: unknown, name: string): unknown {
  return isObject(of) ? of[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
