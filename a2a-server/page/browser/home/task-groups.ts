/** Reads the task list of the server. */
import {
  taskGroupPageSchema,
  taskGroupsSchema,
  type TaskGroupName,
  type TaskGroupPage,
  type TaskGroups,
} from '../../../../shared/protocol/task-groups.ts';
import { readJson } from '../page-api.ts';
import { filterParameters, type PageTaskFilters } from '../task-filters.ts';

/** @throws ClientError */
export function readTaskGroups(filters: PageTaskFilters): Promise<TaskGroups> {
  return readJson(`/task-groups?${filterParameters(filters).toString()}`, taskGroupsSchema);
}

/** Returns the next page of a group. @throws ClientError */
export function readGroupPage(
  group: TaskGroupName,
  token: string,
  filters: PageTaskFilters,
): Promise<TaskGroupPage> {
  const query = filterParameters(filters);
  query.set('token', token);
  return readJson(`/task-groups/${group}?${query.toString()}`, taskGroupPageSchema);
}
