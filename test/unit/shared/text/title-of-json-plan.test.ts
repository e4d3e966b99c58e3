import { expect, test } from '@jest/globals';
import { readableTaskTitle } from '../../../../shared/text/title-of-json-plan.ts';

const PLAN = JSON.stringify({
  plan: [
    { tool: 'write-file', input: { path: 'a.md', content: 'say "tool":"x"' } },
    { together: [{ tool: 'run-shell-command', input: { command: 'ls' } }, { tool: 'read-file' }] },
    { say: 'Done.' },
  ],
});

test.each([
  ['a JSON plan names its tools', PLAN, 'Plan: write-file, run-shell-command, read-file'],
  ['a cut JSON plan says that more follows', PLAN.slice(0, 90), 'Plan: write-file, …'],
  ['a plan without tools stays', '{"plan":[{"say":"Hi"}]}', '{"plan":[{"say":"Hi"}]}'],
  ['other JSON stays', '{"tool":"write-file"}', '{"tool":"write-file"}'],
  ['words stay', 'Create "plan": test.md', 'Create "plan": test.md'],
])('%s', (_, title, shown) => {
  expect(readableTaskTitle(title)).toBe(shown);
});
