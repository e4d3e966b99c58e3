/** Draws the agent's to-do list: its current state, and each change of it in the story. */
import type { StoryTodo } from '../../../../shared/protocol/task-story.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { StoryStepHead } from './story-step-parts.tsx';
import type { StoryTodosChange } from './story.ts';
import { todosDoneText, todoChanges, type TodoChange } from './todo-changes.ts';

export function TodoList({ todos }: { todos: readonly StoryTodo[] }) {
  if (todos.length === 0) return null;
  return (
    <section aria-label="To-do list" class="todos">
      <strong>To-do list</strong> <span class="quiet">{todosDoneText(todos)}</span>
      <Items items={todos.map(({ text, status }) => ({ text, change: status }))} />
    </section>
  );
}

export function TodoChanges({ step: { at, todos, before } }: { step: StoryTodosChange }) {
  return (
    <div class="todos">
      <StoryStepHead at={at}>To-do list: {todos.length === 0 ? 'empty' : todosDoneText(todos)}</StoryStepHead>
      <Items items={todoChanges(before, todos)} />
    </div>
  );
}

const WORDS: Readonly<Record<TodoChange['change'], string>> = {
  pending: 'open',
  in_progress: 'in progress',
  done: 'done',
  removed: 'removed',
};

function Items({ items }: { items: readonly TodoChange[] }) {
  return (
    <ul>
      {items.map(({ text, change }, index) => (
        <li key={index} class={`todo-${change}`}>
          <span class="mark" role="img" aria-label={WORDS[change]} /> <span>{visibleLine(text)}</span>
        </li>
      ))}
    </ul>
  );
}
