import { ProductError } from '../../../shared/runtime/errors.ts';
import { isDamagedTaskError } from '../../journal/damaged-task.ts';

/**
 * Returns the result of a read about a task of a list. Returns undefined if the task no longer exists, or if its events
 * are damaged: one such task must not hide the others. The query of the index may have found the task before its
 * deletion.
 * @param onDamaged called with the error if the events are damaged
 */
export async function undefinedIfUnreadable<T>(
  read: Promise<T>,
  onDamaged?: (error: unknown) => void,
): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ProductError && error.reason === 'UNKNOWN_TASK') return undefined;
    if (!isDamagedTaskError(error)) throw error;
    onDamaged?.(error);
    return undefined;
  }
}
