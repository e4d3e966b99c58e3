/** The SSE id of an event that is already in wire form: the `seq` that the resumable-stream extension put in its metadata. */
import { RESUMABLE_STREAM } from '../../shared/protocol/resumable-stream.ts';

/** @param event a Task or an update event as it goes on the wire: of 0.3, or of 1.0 inside the field that names it. */
export function positionOf(event: unknown): string | undefined {
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
