import { Task, TaskState } from '@a2a-js/sdk';
import type { ListTasksRequest, ListTasksResponse } from '@a2a-js/sdk';
import { TASK_STATE_CODES } from '../../../shared/protocol/task-state-codes.ts';
import { mapInGroups } from '../../runtime/map-in-groups.ts';
import { visibleTasksFilter } from '../../access/requester.ts';
import { READS_AT_ONCE } from '../../executor/queries/task-queries.ts';
import type { TaskService } from '../../executor/task-service.ts';
import type { JournalTaskFilter } from '../../journal/journal.ts';
import type { CostSum } from '../../task/costs/cost-sum.ts';
import { STATE_NAMES, type StateName } from '../../task/snapshot.ts';
import type { A2aRequestContext } from '../auth/a2a-request-context.ts';
import { toA2aTask } from '../wire/task-projection.ts';

const DEFAULT_PAGE_SIZE = 50;

/**
 * X3: the size limit of a page, in characters of JSON. Tasks are read in groups of `READS_AT_ONCE`. The page ends after
 * the group that exceeds this size. The JSON of a hundred long tasks would block the process for many seconds, and would
 * not fit into a string.
 */
const MAX_PAGE_CHARS = 4 * 1024 * 1024;

/**
 * ListTasks (A2A 1.0 §3.1.4): returns a page of the tasks that the caller may see, newest update first.
 * @param request checked by `request-schemas.ts`
 */
export async function listTasks(
  tasks: TaskService,
  request: ListTasksRequest,
  context: A2aRequestContext,
): Promise<ListTasksResponse> {
  const { contextId, status, pageSize = DEFAULT_PAGE_SIZE, pageToken, statusTimestampAfter } = request;
  const { historyLength, includeArtifacts = false } = request;
  const { requester } = context.caller;
  const states = status === TaskState.TASK_STATE_UNSPECIFIED ? undefined : statesOf(status);
  const filter: JournalTaskFilter = {
    ...visibleTasksFilter(requester),
    ...(contextId !== '' && { sessionId: contextId }),
    ...(states && { states }),
    ...(statusTimestampAfter !== undefined && { updatedSince: Date.parse(statusTimestampAfter) }),
  };
  const page = await tasks.list(filter, { size: pageSize, ...(pageToken !== '' && { token: pageToken }) });
  const sessionCosts = new Map<string, Promise<CostSum>>();
  let chars = 0;
  let next = page.next;
  let isFull = false;
  const rows = [...page.rows.entries()];
  const found = await mapInGroups(rows, READS_AT_ONCE, async ([index, row]): Promise<Task[]> => {
    if (isFull) return [];
    if (chars > MAX_PAGE_CHARS) {
      isFull = true;
      next = page.tokens[index - 1];
      return [];
    }
    const cost = sessionCosts.get(row.sessionId) ?? tasks.sessionCost(row.principal, row.sessionId);
    sessionCosts.set(row.sessionId, cost);
    const [snapshot, sessionCost] = await Promise.all([tasks.listedSnapshot(row), cost]);
    if (snapshot === undefined) return [];
    const options = context.wireOptions(snapshot);
    const task = toA2aTask(snapshot, options, { historyLength, artifacts: includeArtifacts, sessionCost });
    chars += JSON.stringify(Task.toJSON(task)).length;
    return [task];
  });
  return {
    tasks: found.flat(),
    nextPageToken: next ?? '',
    pageSize,
    totalSize: page.total,
  };
}

/**
 * Converts an A2A state to this server's states. Returns an empty list for a state that tasks of this server never
 * have.
 */
function statesOf(wanted: TaskState): StateName[] {
  return STATE_NAMES.filter((name) => TASK_STATE_CODES[name] === wanted);
}
