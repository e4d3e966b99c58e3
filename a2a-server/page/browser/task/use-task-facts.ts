import { useEffect, useState } from 'preact/hooks';
import * as z from 'zod/mini';
import { TOOL_APPROVAL_EXTENSION } from '../../../../shared/protocol/extensions.ts';
import { PAGE_API_URL, signedInFetch } from '../sign-in/sign-in.ts';
import { taskFactsSchema, type TaskFacts } from './task-facts.ts';

const task = z.object({ metadata: z.object({ [TOOL_APPROVAL_EXTENSION]: taskFactsSchema }) });

/** @throws Error if the server refuses the request */
async function fetchFacts(taskId: string): Promise<TaskFacts> {
  const response = await signedInFetch(
    `${PAGE_API_URL}/tasks/${encodeURIComponent(taskId)}?historyLength=0`,
    {
      headers: { 'A2A-Version': '1.0', 'A2A-Extensions': TOOL_APPROVAL_EXTENSION },
    },
  );
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return task.parse(await response.json()).metadata[TOOL_APPROVAL_EXTENSION];
}

/**
 * Returns the facts of a task. Undefined until the page has them.
 * @param changes a counter. When it changes, the page fetches the facts again
 */
export function useTaskFacts(taskId: string, changes: number): TaskFacts | undefined {
  const [facts, setFacts] = useState<TaskFacts>();
  useEffect(() => {
    let current = true;
    void fetchFacts(taskId).then(
      (found) => current && setFacts(found),
      // A failed request is ignored. The next change of the task fetches the facts again.
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [taskId, changes]);
  return facts;
}
