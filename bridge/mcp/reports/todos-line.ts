/** Formats an agent's to-do list in a few words, such as `todos 3/7: writing tests`. Pure. */
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import type { ObservedArtifact } from '../../dialects/observation.ts';

/** Returns the line about the agent's to-do list. Returns null if the agent has no list, or an empty one. */
export function todosLine(view: Pick<TaskView, 'outputs'> | undefined): string | null {
  for (const output of view?.outputs ?? []) {
    const line = todoListLine(output);
    if (line !== null) return line;
  }
  return null;
}

/** Returns the line about one artifact. Returns null if the artifact is not a to-do list, or is empty. */
export function todoListLine({ aside }: ObservedArtifact): string | null {
  if (aside?.role !== 'todos' || aside.todos.length === 0) return null;
  const done = aside.todos.filter(({ status }) => status === 'done').length;
  const now =
    aside.todos.find(({ status }) => status === 'in_progress') ??
    aside.todos.find(({ status }) => status === 'pending');
  return `todos ${String(done)}/${String(aside.todos.length)}${now === undefined ? '' : `: ${visibleLine(now.text)}`}`;
}
