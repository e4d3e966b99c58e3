/** A real journal with some other methods, e.g. with an append that refuses. */
import type { Journal } from '../../a2a-server/journal/journal.ts';

export function journalWith(journal: Journal, changed: Partial<Journal>): Journal {
  return {
    ownership: journal.ownership,
    now: () => journal.now(),
    append: (append) => journal.append(append),
    read: (taskId, after, limit) => journal.read(taskId, after, limit),
    readPage: (taskId, after) => journal.readPage(taskId, after),
    row: (taskId) => journal.row(taskId),
    rows: (taskIds) => journal.rows(taskIds),
    command: (principal, messageId) => journal.command(principal, messageId),
    toolExecution: (toolId) => journal.toolExecution(toolId),
    content: (taskId, hash) => journal.content(taskId, hash),
    withSavedFiles: (principal) => journal.withSavedFiles(principal),
    list: (filter, page) => journal.list(filter, page),
    filterValues: (principal) => journal.filterValues(principal),
    session: (principal, sessionId) => journal.session(principal, sessionId),
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
    ...changed,
  };
}
