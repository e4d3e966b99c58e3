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
export async function readTaskGroups(filters: PageTaskFilters): Promise<TaskGroups> {
  return taskGroupsSchema.parse(await readJson(`/task-groups?${filterParameters(filters).toString()}`));
}

/** Returns the next page of a group. @throws ClientError */
export async function readGroupPage(
  group: TaskGroupName,
  token: string,
  filters: PageTaskFilters,
): Promise<TaskGroupPage> {
  const query = filterParameters(filters);
  query.set('token', token);
  return taskGroupPageSchema.parse(await readJson(`/task-groups/${group}?${query.toString()}`));
}
