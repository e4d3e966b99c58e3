import { describe, expect, it } from '@jest/globals';
import { todosLine } from '../../../../../bridge/mcp/reports/todos-line.ts';
import type { Todo } from '../../../../../shared/protocol/tool-approval.ts';

const line = (...statuses: Todo['status'][]): string | null => {
  const todos = statuses.map((status, index) => ({ text: `step ${index + 1}`, status }));
  const list = { id: 'todos', name: 'todos', text: '…', aside: { role: 'todos' as const, todos } };
  return todosLine({ outputs: [{ id: 'turn-1', name: '', text: 'words' }, list] });
};

describe('a to-do list in one line', () => {
  it('the line has the number of completed items, and the current or next item', () => {
    expect(line('done', 'in_progress', 'pending')).toBe('todos 1/3: step 2');
    expect(line('done', 'pending', 'in_progress')).toBe('todos 1/3: step 3');
    expect(line('done', 'pending')).toBe('todos 1/2: step 2');
    expect(line('done', 'done')).toBe('todos 2/2');
  });

  it('the line is empty for a missing or empty list', () => {
    expect(line()).toBeNull();
    expect(todosLine({ outputs: [] })).toBeNull();
    expect(todosLine(undefined)).toBeNull();
  });
});
