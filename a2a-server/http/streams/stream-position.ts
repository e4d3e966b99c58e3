/** Reads the SSE id of an encoded event: the `seq` in the metadata of the resumable-stream extension. */
import { RESUMABLE_STREAM } from '../../../shared/protocol/resumable-stream-extension.ts';

/** @param event an encoded Task or update event. In 1.0 a field that names its type wraps it; in 0.3 nothing does. */
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
