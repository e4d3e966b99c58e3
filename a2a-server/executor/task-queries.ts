/** Reads tasks for their principal, and for other principals that may see them. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { CostReport } from '../../shared/protocol/cost-report.ts';
import { costReport, sumCosts } from '../task/costs/cost-report.ts';
import { utcDay } from '../task/costs/cost-sum.ts';
import { dailyBudgetLimit } from '../task/costs/daily-budget.ts';
import { filesOf } from '../task/task-files.ts';
import { callOf } from '../task/snapshot.ts';
import type { ExecutorOptions } from './executor.ts';
import { followTaskJournal } from './follow-task-journal.ts';
import { readReceipt } from './read-receipt.ts';
import { readTaskCosts } from './read-task-costs.ts';
import type { TaskLog } from './task-log.ts';
import { toToolDeclaration } from '../tools/toolbox.ts';
import { loadTask, findVisibleRow } from './message-target.ts';
import type { TaskService } from './task-service.ts';

interface QueryOptions extends Pick<ExecutorOptions, 'journal' | 'clock' | 'toolbox' | 'dailyBudget'> {
  log: TaskLog;
}

type TaskQueries = Omit<
  TaskService,
  'send' | 'recipient' | 'presenceStatement' | 'cancel' | 'cancelWork' | 'toolExecutions' | 'abortTool'
>;

export function createTaskQueries({ journal, clock, toolbox, dailyBudget, log }: QueryOptions): TaskQueries {
  return {
    row: (taskId, by) => findVisibleRow(journal, taskId, by),
    async snapshot(taskId, by, atSeq) {
      await findVisibleRow(journal, taskId, by);
      return loadTask(log, taskId, atSeq);
    },
    receipt: async (taskId, by, events) =>
      readReceipt(journal, await findVisibleRow(journal, taskId, by), events),
    async taskCosts(taskId, by) {
      await findVisibleRow(journal, taskId, by);
      return readTaskCosts(journal, taskId);
    },
    async entries(taskId, by, { after, limit }) {
      await findVisibleRow(journal, taskId, by);
      return journal.read(taskId, after, limit);
    },
    async inputSchema(taskId, by, callId) {
      await findVisibleRow(journal, taskId, by);
      const call = callOf(await loadTask(log, taskId), callId);
      if (call === undefined)
        throw new ProductError('UNKNOWN_CALL', `Task ${taskId} has no call ${callId.slice(0, 200)}.`);
      const tool = toolbox.get(call.tool);
      return tool === undefined ? null : toToolDeclaration(tool).inputSchema;
    },
    sessionCost: async (principal, sessionId) => sumCosts(await journal.costs({ principal, sessionId })),
    async file(taskId, by, hash) {
      await findVisibleRow(journal, taskId, by);
      // Only files of messages and results are returned. The journal also contains the old content of changed files,
      // which clients must not get.
      const file = filesOf(await loadTask(log, taskId)).find((each) => each.hash === hash);
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
    follow: (taskId, after, how) => followTaskJournal(journal, taskId, after, how),
    async costs(principal, days) {
      const toDay = utcDay(clock.now());
      const fromDay = toDay - days + 1;
      const report = costReport(await journal.costs({ principal, fromDay }), { fromDay, toDay });
      const sessions: CostReport['sessions'] = [];
      for (const each of report.sessions) {
        const [first] = each.sessionId === null ? [] : await journal.session(principal, each.sessionId);
        sessions.push({ ...each, title: first?.title ?? '' });
      }
      if (dailyBudget === undefined) return { ...report, sessions };
      const use = await journal.dailyUse(principal, toDay);
      const limitUsd = dailyBudgetLimit(use, dailyBudget);
      return { ...report, sessions, dailyBudget: { usd: dailyBudget, limitUsd, spentUsd: use.usd } };
    },
  };
}
