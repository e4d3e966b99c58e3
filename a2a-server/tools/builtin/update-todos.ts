import { z } from 'zod';
import { todoSchema } from '../../../shared/protocol/todo.ts';
import { defineTool } from './define-tool.ts';
import { countWithNoun } from '../../../shared/text/one-line.ts';
import type { Tool } from '../tool.ts';

const MAX_TODOS = 50;

const schema = z.strictObject({
  todos: z
    .array(todoSchema)
    .max(MAX_TODOS)
    .describe('The whole list, in the order of the work. It replaces the previous list.'),
});

export const updateTodosTool: Tool = defineTool({
  name: 'update-todos',
  description:
    'Keeps a todo list that the person sees. For work of several steps: write the list first, keep one item in_progress, and mark each item when it is done.',
  sideEffect: 'none',
  schema,
  timeoutMs: () => 5_000,
  title: ({ todos }) => `Plan ${countWithNoun(todos.length, 'todo')}`,
  show: async (input) => ({ preview: { type: 'json', value: input }, basis: null }),
  run: async ({ todos }, { plan }) => {
    plan(todos);
    const done = todos.filter(({ status }) => status === 'done').length;
    const open = todos.filter(({ status }) => status !== 'done').map(({ text }) => text);
    const left = open.length === 0 ? 'nothing is left' : `left: ${open.join('; ')}`;
    return {
      text: `${done} of ${todos.length} done; ${left}.`,
      summary: `${done} of ${countWithNoun(todos.length, 'todo')} done`,
    };
  },
});
