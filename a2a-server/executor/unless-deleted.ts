import { ProductError } from '../../shared/runtime/errors.ts';

/** Returns what the task service reads of a task. Undefined if the task was deleted after the query of the index. */
export async function unlessDeleted<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ProductError && error.reason === 'UNKNOWN_TASK') return undefined;
    throw error;
  }
}
