/** Joins the pages of a task list, groups its tasks by session, and names the group of waiting tasks. Pure. */
import type { GroupedTask, TaskGroupPage } from '../../../../shared/protocol/task-groups.ts';

/** Adds the next page. A task that has moved since the page before was read is in the list only once. */
export function addNextTaskPage(known: TaskGroupPage, page: TaskGroupPage): TaskGroupPage {
  const added = new Set(page.tasks.map(({ taskId }) => taskId));
  return { ...page, tasks: [...known.tasks.filter(({ taskId }) => !added.has(taskId)), ...page.tasks] };
}

/**
 * Keeps the further pages of ended tasks after a new read of the first page, because ended tasks do not change. If the
 * new page does not reach the known tasks, tasks between them may be missing. Then only the new page stays.
 */
export function keepLoadedTaskPages(first: TaskGroupPage, known: TaskGroupPage | undefined): TaskGroupPage {
  const last = first.tasks.at(-1);
  const at = known?.tasks.findIndex(({ taskId }) => taskId === last?.taskId) ?? -1;
  if (known === undefined || first.next === null || at === -1) return first;
  const fresh = new Set(first.tasks.map(({ taskId }) => taskId));
  const older = known.tasks.slice(at + 1).filter(({ taskId }) => !fresh.has(taskId));
  return older.length === 0 ? first : { ...first, tasks: [...first.tasks, ...older], next: known.next };
}

/**
 * Says whom the listed tasks wait for. A task waits for somebody else if this person may decide none of its actions.
 */
export function waitingGroupTitle({ tasks }: Pick<TaskGroupPage, 'tasks'>): string {
  const others = tasks.filter((task) => isForOthers(task)).length;
  if (others === 0) return 'Waits for you';
  return others === tasks.length ? 'Waits for somebody else' : 'Waits for you or somebody else';
}

function isForOthers({ waitingFor }: GroupedTask): boolean {
  return waitingFor?.type === 'actions' && waitingFor.approver !== undefined;
}

/** Tasks of one session, in the order of the list. */
export interface SessionTasks {
  sessionId: string;
  tasks: readonly GroupedTask[];
}

/** Groups tasks by session. A session has the position of its first task in the list. */
export function groupBySession(tasks: readonly GroupedTask[]): SessionTasks[] {
  const sessions = new Map<string, GroupedTask[]>();
  for (const task of tasks) {
    const own = sessions.get(task.sessionId);
    if (own === undefined) sessions.set(task.sessionId, [task]);
    else own.push(task);
  }
  return [...sessions].map(([sessionId, own]) => ({ sessionId, tasks: own }));
}
