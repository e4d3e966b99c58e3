/** The `Last-Event-ID` of the resumable-stream extension: the `seq` of the last event a client has seen. */
import { ProductError } from '../../shared/errors.ts';

/**
 * @param end the `seq` of the task's last event.
 * @throws ProductError INVALID_CURSOR for anything that is no position in this journal: nothing is rounded (S2).
 */
export function parseCursor(text: string, end: number): number {
  const seq = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (seq === undefined || seq > end)
    throw new ProductError(
      'INVALID_CURSOR',
      `Last-Event-ID ${JSON.stringify(text.slice(0, 50))} is no position in this task's events: they run from 0, before the first, to ${end}. Subscribe without it, and the task comes first as it stands.`,
      { facts: { last: String(end) } },
    );
  return seq;
}
