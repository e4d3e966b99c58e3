/** Reads tasks for their principal, and for other principals that may see them. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { mapInGroups } from '../../runtime/map-in-groups.ts';
import type { CostReport, TaskCosts } from '../../../shared/protocol/cost-report.ts';
import type { Receipt } from '../../../shared/receipt/receipt.ts';
import type { Requester } from '../../access/requester.ts';
import type {
  FileBytes,
  OwnerFilter,
  JournalTaskFilter,
  TaskFilterValues,
  TaskPage,
  TaskPageRequest,
  TaskRow,
} from '../../journal/journal.ts';
import { costReport, sumCosts } from '../../task/costs/cost-report.ts';
import { utcDay, type CostSum } from '../../task/costs/cost-sum.ts';
import { extendedDailyBudget } from '../../task/costs/daily-budget.ts';
import type { JournalEntry } from '../../task/events.ts';
import { filesOfTask } from '../../task/task-files.ts';
import { findCall, type Snapshot } from '../../task/snapshot.ts';
import type { StoredFile } from '../../task/stored-file.ts';
import type { ExecutorOptions } from '../executions/executor.ts';
import { followTaskJournal, type FollowUntil } from './follow-task-journal.ts';
import { buildReceiptFromJournal } from './build-receipt-from-journal.ts';
import { readTaskCosts } from './read-task-costs.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';
import { toToolDeclaration } from '../../tools/toolbox.ts';
import { requireSnapshot, requireVisibleRow } from './task-lookup.ts';

interface QueryOptions extends Pick<ExecutorOptions, 'journal' | 'clock' | 'toolbox' | 'dailyBudget'> {
  taskJournal: TaskJournal;
}

export interface TaskQueries {
  /** Returns the task's row. This takes the same time for short and long tasks. @throws ProductError UNKNOWN_TASK */
  row(taskId: string, by: Requester): Promise<TaskRow>;
  /** Returns the task after its last entry, or after entry `atSeq`. @throws ProductError UNKNOWN_TASK */
  snapshot(taskId: string, by: Requester, atSeq?: number): Promise<Snapshot>;
  /**
   * Returns the snapshot of a task of a list. Returns undefined if the task no longer exists, or if its events are
   * damaged. The log of the server names damaged tasks.
   */
  listedSnapshot(row: Pick<TaskRow, 'taskId' | 'seq'>): Promise<Snapshot | undefined>;
  /** Returns the costs of the principal's tasks by UTC day. @param days the number of days, including today */
  costs(principal: string, days: number): Promise<CostReport>;
  /**
   * Returns the receipt of a task. It covers the first `events` events; by default all.
   * @throws ProductError UNKNOWN_TASK; INVALID_CURSOR if the task has fewer events
   */
  receipt(taskId: string, by: Requester, events?: number): Promise<Receipt>;
  /**
   * Returns the cost of each model request of the task. This takes longer for a longer task.
   * @throws ProductError UNKNOWN_TASK
   */
  taskCosts(taskId: string, by: Requester): Promise<TaskCosts>;
  /**
   * Returns the journal entries after a position, in order. Does not wait for new entries.
   * @throws ProductError UNKNOWN_TASK
   */
  entries(
    taskId: string,
    by: Requester,
    { after, limit }: { after: number; limit: number },
  ): Promise<readonly JournalEntry[]>;
  /**
   * Returns the JSON Schema that checks an edited input of this tool call. Returns null if the agent does not have the
   * tool now.
   * @throws ProductError UNKNOWN_TASK, UNKNOWN_CALL
   */
  inputSchema(taskId: string, by: Requester, callId: string): Promise<Record<string, unknown> | null>;
  sessionCost(principal: string, sessionId: string): Promise<CostSum>;
  /**
   * Returns the content of a file of the task's messages or results, by its hash.
   * @throws ProductError UNKNOWN_TASK; UNKNOWN_ADDRESS if the task has no such file
   */
  file(
    taskId: string,
    by: Requester,
    hash: string,
  ): Promise<Pick<StoredFile, 'mediaType'> & Pick<FileBytes, 'bytes'>>;
  list(filter: JournalTaskFilter, page: TaskPageRequest): Promise<TaskPage>;
  /** Returns the workspaces and the models of the tasks that `owner` selects. */
  filterValues(owner: OwnerFilter): Promise<TaskFilterValues>;
  /**
   * Yields pages of entries after `after`. Ends when the reader has all entries and the task is in the state that
   * `until` names. S3: the reader pulls the pages, so a slow reader keeps only one. Ends without an error when `signal`
   * aborts.
   * @throws ProductError INVALID_CURSOR for a position after the journal's end (S2: a cursor is never rounded);
   * UNKNOWN_TASK
   */
  follow(
    taskId: string,
    after: number,
    options: { until: FollowUntil; signal: AbortSignal },
  ): AsyncGenerator<readonly JournalEntry[], void, undefined>;
}

/**
 * The number of items of a list that are read at the same time. Reading several at once is faster if the database is on
 * another machine. X3: more reads at once would block the event loop longer.
 */
export const READS_AT_ONCE = 4;

export function createTaskQueries({
  journal,
  clock,
  toolbox,
  dailyBudget,
  taskJournal,
}: QueryOptions): TaskQueries {
  return {
    row: (taskId, by) => requireVisibleRow(journal, taskId, by),
    async snapshot(taskId, by, atSeq) {
      await requireVisibleRow(journal, taskId, by);
      return requireSnapshot(taskJournal, taskId, atSeq);
    },
    listedSnapshot: ({ taskId, seq }) => taskJournal.loadIfReadable(taskId, seq),
    receipt: async (taskId, by, events) =>
      buildReceiptFromJournal(journal, await requireVisibleRow(journal, taskId, by), events),
    async taskCosts(taskId, by) {
      await requireVisibleRow(journal, taskId, by);
      return readTaskCosts(journal, taskId);
    },
    async entries(taskId, by, { after, limit }) {
      await requireVisibleRow(journal, taskId, by);
      return journal.read(taskId, after, limit);
    },
    async inputSchema(taskId, by, callId) {
      await requireVisibleRow(journal, taskId, by);
      const call = findCall(await requireSnapshot(taskJournal, taskId), callId);
      if (call === undefined)
        throw new ProductError('UNKNOWN_CALL', `Task ${taskId} has no call ${callId.slice(0, 200)}.`);
      const tool = toolbox.get(call.tool);
      return tool === undefined ? null : toToolDeclaration(tool).inputSchema;
    },
    sessionCost: async (principal, sessionId) => sumCosts(await journal.costs({ principal, sessionId })),
    async file(taskId, by, hash) {
      await requireVisibleRow(journal, taskId, by);
      // Only files of messages and results are returned. The journal also contains the old content of changed files,
      // which clients must not get.
      const file = filesOfTask(await requireSnapshot(taskJournal, taskId)).find((each) => each.hash === hash);
      const bytes = file && (await journal.content(taskId, hash));
      if (file === undefined || bytes === undefined)
        throw new ProductError(
          'UNKNOWN_ADDRESS',
          `Task ${taskId} has no such file. The task's metadata lists its files.`,
        );
      return { mediaType: file.mediaType, bytes };
    },
    list: (filter, page) => journal.list(filter, page),
    filterValues: (owner) => journal.filterValues(owner),
    follow: (taskId, after, how) => followTaskJournal(journal, { taskId, after }, how),
    async costs(principal, days) {
      const toDay = utcDay(clock.now());
      const fromDay = toDay - days + 1;
      const report = costReport(await journal.costs({ principal, fromDay }), { fromDay, toDay });
      const sessions = await mapInGroups(report.sessions, READS_AT_ONCE, async (each) => {
        const [first] = each.sessionId === null ? [] : await journal.session(principal, each.sessionId);
        return { ...each, title: first?.title ?? '' };
      });
      if (dailyBudget === undefined) return { ...report, sessions };
      const use = await journal.dailyUse(principal, toDay);
      const limitUsd = extendedDailyBudget(use, dailyBudget);
      return { ...report, sessions, dailyBudget: { usd: dailyBudget, limitUsd, spentUsd: use.usd } };
    },
  };
}
