/** A real journal whose answers are delayed by a fast-check scheduler. The writes are durable before the answers. */
import type fc from 'fast-check';
import type { Journal } from '../../a2a-server/journal/journal.ts';

export function steeredJournal(journal: Journal, scheduler: fc.Scheduler): Journal {
  const later = <T>(answer: Promise<T>, what: string): Promise<T> => scheduler.schedule(answer, what);
  return {
    ownership: journal.ownership,
    now: () => journal.now(),
    append: (append) =>
      later(journal.append(append), `appended ${append.events.map((e) => e.type).join(' ')}`),
    read: (taskId, after, limit) => later(journal.read(taskId, after, limit), `read after ${after}`),
    row: (taskId) => later(journal.row(taskId), 'row'),
    rows: (taskIds) => journal.rows(taskIds),
    command: (principal, messageId) => later(journal.command(principal, messageId), 'command'),
    toolExecution: (toolId) => later(journal.toolExecution(toolId), 'tool execution'),
    content: (taskId, hash) => later(journal.content(taskId, hash), 'content'),
    withSavedFiles: (principal) => journal.withSavedFiles(principal),
    list: (filter, page) => journal.list(filter, page),
    filterValues: (principal) => journal.filterValues(principal),
    session: (principal, sessionId) => later(journal.session(principal, sessionId), 'session'),
    costs: (filter) => journal.costs(filter),
    dailyUse: (principal, day) => journal.dailyUse(principal, day),
    dailyWritten: (principal, day) => journal.dailyWritten(principal, day),
    taskSize: (taskId) => journal.taskSize(taskId),
    unsettled: () => journal.unsettled(),
    statistics: () => journal.statistics(),
    deadlines: (limit) => journal.deadlines(limit),
    deleteEndedSessions: (before, limit) => journal.deleteEndedSessions(before, limit),
    maintain: (limit) => journal.maintain(limit),
    watch: (taskId, wake) => journal.watch(taskId, wake),
    reachable: () => journal.reachable(),
    close: () => journal.close(),
  };
}
