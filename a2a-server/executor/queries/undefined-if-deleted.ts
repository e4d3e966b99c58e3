import { ProductError } from '../../../shared/runtime/errors.ts';

/**
 * Returns the result of a read about a task. Returns undefined if the task no longer exists. The query of the index may
 * have found the task before its deletion.
 */
export async function undefinedIfDeleted<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ProductError && error.reason === 'UNKNOWN_TASK') return undefined;
    throw error;
  }
}
