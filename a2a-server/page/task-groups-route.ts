/**
 * Serves the task list of the page.
 *
 * - `GET /page/api/task-groups` returns the first page of each group, and what the title and the notifications need.
 * - `GET /page/api/task-groups/:group?token=…` returns a further page of one group.
 *
 * Filters: `text`, `workspace`, `model`, `state`. The index finds the rows. The server caches the summaries of tasks,
 * so it reads a snapshot only if the task has changed.
 */
import { Router } from 'express';
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';
import {
  TASK_GROUPS,
  type GroupedTask,
  type TaskGroupName,
  type TaskGroupPage,
  type TaskGroups,
} from '../../shared/protocol/task-groups.ts';
import { readableTaskTitle } from '../../shared/text/title-of-json-plan.ts';
import { mapInGroups } from '../runtime/map-in-groups.ts';
import { setBounded } from '../../shared/runtime/set-bounded.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { visibleTasksFilter } from '../access/requester.ts';
import { READS_AT_ONCE } from '../executor/queries/task-queries.ts';
import type { TaskService } from '../executor/task-service.ts';
import { callerOf } from '../http/auth/caller.ts';
import { validateRequestInput } from '../http/wire/validate-request-input.ts';
import type { TaskReader } from '../http/wire/reader-decisions.ts';
import type { OwnerFilter, JournalTaskFilter, TaskRow } from '../journal/journal.ts';
import { costView } from '../task/costs/cost-report.ts';
import type { CostSum } from '../task/costs/cost-sum.ts';
import type { StateName } from '../task/snapshot.ts';
import { FilterValueCache } from './filter-value-cache.ts';
import {
  countDecidableActions,
  countUnreadActions,
  summarizeTask,
  type TaskSummary,
  waitingForShownTo,
} from './summarize-task.ts';

const STATES_OF: Readonly<Record<TaskGroupName, readonly StateName[]>> = {
  waiting: ['input-required', 'auth-required'],
  working: ['submitted', 'working'],
  ended: ['completed', 'canceled', 'failed', 'rejected'],
};

const MAX_PAGE_SIZE = 100;
/** The maximum number of waiting tasks whose actions are counted. Each further task counts as one action. */
const MAX_COUNTED_TASKS = 200;
/** The maximum number of tasks of one response for which the page may show notifications. */
const MAX_NOTIFIED_TASKS = 20;
/** The maximum number of cached summaries. A summary has about 1 kB. */
const MAX_SUMMARIES = 5_000;

const text = z.string().min(1).max(500).optional();
const query = z.strictObject({
  text,
  workspace: z.string().min(1).max(4096).optional(),
  model: text,
  state: z.enum(['waiting', 'working', 'completed', 'canceled', 'failed', 'rejected']).optional(),
  size: z.coerce.number().int().min(1).max(MAX_PAGE_SIZE).default(50),
  token: text,
});
type Query = z.infer<typeof query>;

type Tasks = Pick<TaskService, 'list' | 'listedSnapshot' | 'sessionCost' | 'filterValues'>;

export function taskGroupsRoute(tasks: Tasks, clock: Pick<Clock, 'elapsed'>): Router {
  const router = Router();
  const filterValues = new FilterValueCache({ read: (owner) => tasks.filterValues(owner), clock });
  const summaries = new Map<string, { seq: number; summary: TaskSummary }>();

  const summaryOf = async (row: TaskRow): Promise<TaskSummary | undefined> => {
    const { taskId, seq } = row;
    const known = summaries.get(taskId);
    if (known?.seq === seq) return known.summary;
    const snapshot = await tasks.listedSnapshot(row);
    if (snapshot === undefined) return undefined;
    const summary = summarizeTask(snapshot);
    setBounded(summaries, taskId, { seq: snapshot.seq, summary }, MAX_SUMMARIES);
    return summary;
  };

  const tasksOf = async (rows: readonly TaskRow[], reader: TaskReader): Promise<GroupedTask[]> => {
    const sessionCosts = new Map<string, Promise<CostSum>>();
    const found = await mapInGroups(rows, READS_AT_ONCE, async (row): Promise<GroupedTask[]> => {
      const { principal, sessionId, title } = row;
      const cost = sessionCosts.get(sessionId) ?? tasks.sessionCost(principal, sessionId);
      sessionCosts.set(sessionId, cost);
      const [summary, sessionCost] = await Promise.all([summaryOf(row), cost]);
      if (summary === undefined) return [];
      const { usage, pending: _pending, ...rest } = summary;
      const waitingFor = waitingForShownTo(summary, reader);
      const session = costView(sessionCost);
      return [{ ...rest, waitingFor, title: readableTaskTitle(title), cost: { task: usage, session } }];
    });
    return found.flat();
  };

  const groupOf = async (group: TaskGroupName, reader: TaskReader, asked: Query): Promise<TaskGroupPage> => {
    const { size, token } = asked;
    const {
      rows,
      total,
      next = null,
    } = await tasks.list(filterOf(group, visibleTasksFilter(reader), asked), {
      size,
      ...(token !== undefined && { token }),
      // In the group `waiting`, the oldest question comes first. In the other groups, the newest change comes first.
      order: group === 'waiting' ? 'oldest-first' : 'newest-first',
    });
    return { tasks: await tasksOf(rows, reader), total, next };
  };

  const attentionOf = async (reader: TaskReader): Promise<TaskGroups['attention']> => {
    const filter = { ...visibleTasksFilter(reader), states: STATES_OF.waiting };
    const { rows, total } = await tasks.list(filter, { size: MAX_COUNTED_TASKS });
    let count = countUnreadActions(total - rows.length, reader);
    const forReader: TaskRow[] = [];
    const waiting = await mapInGroups(rows, READS_AT_ONCE, summaryOf);
    for (const [index, row] of rows.entries()) {
      const summary = waiting[index];
      const answers = summary === undefined ? 0 : countDecidableActions(summary, reader);
      count += answers;
      if (answers > 0) forReader.push(row);
    }
    return { tasks: await tasksOf(forReader.slice(0, MAX_NOTIFIED_TASKS), reader), count };
  };

  router.get('/task-groups', async (request, response) => {
    const { reader } = callerOf(request);
    const asked = parseQuery(request.query);
    if (asked.token !== undefined)
      throw new ProductError('MALFORMED', 'A page token belongs to one group: /task-groups/{group}?token=….');
    const groups = {
      waiting: await groupOf('waiting', reader, asked),
      working: await groupOf('working', reader, asked),
      ended: await groupOf('ended', reader, asked),
    };
    const shown = TASK_GROUPS.flatMap((name) => groups[name].tasks);
    const answer: TaskGroups = {
      principal: reader.principal,
      ...groups,
      attention: await attentionOf(reader),
      ...(await filterValues.valuesOf(visibleTasksFilter(reader), shown)),
    };
    response.json(answer);
  });
  router.get('/task-groups/:group', async (request, response) => {
    const group = TASK_GROUPS.find((name) => name === request.params.group);
    if (group === undefined)
      throw new ProductError('UNKNOWN_ADDRESS', `The groups of tasks are ${TASK_GROUPS.join(', ')}.`);
    const page = await groupOf(group, callerOf(request).reader, parseQuery(request.query));
    response.json(page);
  });
  return router;
}

function parseQuery(value: unknown): Query {
  return validateRequestInput(
    query,
    value,
    'The parameters are text, workspace, model, state, size and token, each once',
  );
}

function filterOf(group: TaskGroupName, owner: OwnerFilter, asked: Query): JournalTaskFilter {
  const { text: words, workspace, model, state } = asked;
  const states = STATES_OF[group];
  return {
    ...owner,
    states: state === undefined ? states : states.filter((name) => isIn(state, name)),
    ...(words !== undefined && { text: words }),
    ...(workspace !== undefined && { workspace }),
    ...(model !== undefined && { model }),
  };
}

/** Returns true if the page shows a task of this server state as `shown`. */
function isIn(shown: NonNullable<Query['state']>, state: StateName): boolean {
  if (shown === 'waiting' || shown === 'working') return STATES_OF[shown].includes(state);
  return shown === state;
}
