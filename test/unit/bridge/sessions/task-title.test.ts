import { expect, test } from '@jest/globals';
import { buildTaskStartForm } from '../../../../bridge/mcp/tools/task-start-form.ts';
import { taskTitleOf } from '../../../../bridge/sessions/task-title.ts';

const PLAN = `{"plan": [{"tool": "write-file", "input": {"path": "${'a'.repeat(100)}"}}, {"tool": "read-file"}]}`;

test('the title of a task is its first words, on one line', () => {
  expect(taskTitleOf('Create a file\n  with hello')).toBe('Create a file with hello');
  expect(taskTitleOf('x'.repeat(100))).toBe(`${'x'.repeat(79)}…`);
});

test('the title of a JSON plan names its tools, also those behind a long input', () => {
  expect(taskTitleOf(PLAN)).toBe('Plan: write-file, read-file');
});

test('D5 the form that asks for the start of a task shows the words of the task, not their summary', () => {
  const form = buildTaskStartForm(
    { task: PLAN, placed: undefined, unasked: true },
    { outside: false, directory: '/w', columns: 74 },
  );
  expect(form?.message).toContain('\nTask: {"plan": [{"tool": "write-file"');
});
