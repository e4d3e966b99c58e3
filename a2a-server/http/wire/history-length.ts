/** A2A 1.0 §3.2.4: the requested length of a task's history. Unset means all, 0 means none. */
import { ProductError } from '../../../shared/runtime/errors.ts';

/** @throws ProductError MALFORMED */
export function historyLengthOf(
  request: { historyLength?: number | undefined } | undefined,
): number | undefined {
  const length = request?.historyLength;
  if (length === undefined || (Number.isInteger(length) && length >= 0)) return length;
  throw new ProductError('MALFORMED', 'historyLength must be a whole number, 0 or more.');
}
