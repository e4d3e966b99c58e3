/** Finds what changed in the agent's to-do list. Pure. */
import type { StoryTodo } from '../../../../shared/protocol/task-story.ts';

export interface TodoChange {
  text: string;
  change: StoryTodo['status'] | 'removed';
}

/**
 * Returns the changes between two to-do lists. The agent sends the whole list each time. A new to-do counts as a change
 * to its status.
 */
export function todoChanges(before: readonly StoryTodo[], after: readonly StoryTodo[]): TodoChange[] {
  const old = new Map(before.map(({ text, status }) => [text, status]));
  const kept = new Set(after.map(({ text }) => text));
  return [
    ...after
      .filter(({ text, status }) => old.get(text) !== status)
      .map(({ text, status }) => ({ text, change: status })),
    ...before.filter(({ text }) => !kept.has(text)).map(({ text }) => ({ text, change: 'removed' as const })),
  ];
}

/** Returns e.g. `1 of 3 done`. */
export function todosDoneText(todos: readonly StoryTodo[]): string {
  return `${todos.filter(({ status }) => status === 'done').length} of ${todos.length} done`;
}
