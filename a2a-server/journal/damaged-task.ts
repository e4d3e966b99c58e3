import { ProductError } from '../../shared/runtime/errors.ts';

/** The code of the error if PostgreSQL returns events that are damaged. */
export const DAMAGED_EVENTS_CODE = 'DAMAGED';

/** True if a journal could be read, but the events of the task are damaged. Other tasks may be readable. */
export function isDamagedTaskError(error: unknown): boolean {
  if (!(error instanceof ProductError) || error.reason !== 'STORAGE') return false;
  const { code = '' } = error.facts;
  return code === DAMAGED_EVENTS_CODE || code.startsWith('SQLITE_CORRUPT');
}
