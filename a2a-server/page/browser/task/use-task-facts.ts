import { readTaskMetadata } from '../page-api.ts';
import { useLoaded } from '../use-loaded.ts';
import { taskFactsSchema, type TaskFacts } from './task-facts.ts';

/**
 * Returns the facts of a task. Undefined until the page has them.
 * @param changes a counter. When it changes, the page fetches the facts again
 */
export function useTaskFacts(taskId: string, changes: number): TaskFacts | undefined {
  // A failed request is ignored. The next change of the task fetches the facts again.
  return useLoaded(() => readTaskMetadata(taskId, taskFactsSchema, '?historyLength=0'), [taskId, changes])
    .value;
}
