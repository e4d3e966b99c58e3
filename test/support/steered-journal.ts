/** A real journal whose answers are delayed by a fast-check scheduler. The writes are durable before the answers. */
import type fc from 'fast-check';
import type { Journal } from '../../a2a-server/journal/journal.ts';
import { journalWith } from './journal-with.ts';

export function steeredJournal(journal: Journal, scheduler: fc.Scheduler): Journal {
  const later = <T>(answer: Promise<T>, what: string): Promise<T> => scheduler.schedule(answer, what);
  return journalWith(journal, {
    append: (append) =>
      later(journal.append(append), `appended ${append.events.map((e) => e.type).join(' ')}`),
    read: (taskId, after, limit) => later(journal.read(taskId, after, limit), `read after ${after}`),
    readPage: (taskId, after) => later(journal.readPage(taskId, after), `page after ${after}`),
    row: (taskId) => later(journal.row(taskId), 'row'),
    command: (principal, messageId) => later(journal.command(principal, messageId), 'command'),
    toolExecution: (toolId) => later(journal.toolExecution(toolId), 'tool execution'),
    content: (taskId, hash) => later(journal.content(taskId, hash), 'content'),
    session: (principal, sessionId) => later(journal.session(principal, sessionId), 'session'),
  });
}
