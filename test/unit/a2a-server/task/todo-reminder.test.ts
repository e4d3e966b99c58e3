import { describe, expect, it } from '@jest/globals';
import { buildConversation } from '../../../../a2a-server/task/conversation/conversation.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { foldEntry } from '../../../../a2a-server/task/fold.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { todoReminders } from '../../../../a2a-server/task/todo-reminder.ts';
import { entriesOf, snapshotOf } from '../../../support/long-session.ts';

/**
 * Returns a task whose turns have one call each. The turns in `lists` write a to-do list with this number of open
 * items.
 */
function task(turns: number, lists: Readonly<Record<number, number>>): Snapshot {
  const planned = Array.from({ length: turns }, () => ({
    text: 1,
    calls: [{ input: 1, result: 1 }],
    message: null,
  }));
  const start = snapshotOf('t', entriesOf('t', { first: 1, turns: planned }, false));
  return Object.entries(lists).reduce((snapshot, [turn, open]) => {
    const event: TaskEvent = {
      type: 'todos.updated',
      callId: `t-c${turn}-0`,
      todos: [
        { text: 'begin', status: 'done' },
        ...Array.from({ length: open }, (_, at) => ({
          text: `item ${String(at)}`,
          status: 'pending' as const,
        })),
      ],
    };
    return foldEntry(snapshot, { seq: snapshot.seq + 1, at: 0, event });
  }, start);
}

describe('a reminder of the to-do list', () => {
  it('the reminder follows each ten turns without an update', () => {
    expect([...todoReminders(task(25, { 2: 3 })).keys()]).toEqual([12, 22]);
    expect(JSON.stringify(buildConversation([], task(12, { 2: 3 })).at(-1))).toContain(
      'to-do list is 10 turns old and has 3 open items',
    );
  });

  it('there is no reminder without a list, or if everything on the list is done', () => {
    expect(todoReminders(task(30, {})).size).toBe(0);
    expect(todoReminders(task(30, { 1: 0 })).size).toBe(0);
  });

  it('the count begins at the last update, and an update changes no earlier reminder', () => {
    expect([...todoReminders(task(30, { 2: 1, 15: 1 })).keys()]).toEqual([12, 25]);
  });
});
