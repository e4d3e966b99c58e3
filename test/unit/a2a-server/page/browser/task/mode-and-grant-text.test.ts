import { expect, test } from '@jest/globals';
import { grantText, modeText } from '../../../../../../a2a-server/page/browser/task/mode-and-grant-text.ts';
import type { TaskGrant } from '../../../../../../a2a-server/page/browser/task/task-facts.ts';

test('the mode of a task is a sentence', () => {
  expect(modeText({})).toBe('asks before each change');
  expect(modeText({ autoExecute: true })).toBe('does everything without asking');
  expect(modeText({ mode: 'plan', readOnly: true })).toBe('only reads and plans');
  expect(modeText({ readOnly: true })).toBe('asks before each change; has only read-only tools');
  expect(modeText({ mode: 'later\u202E' })).toBe('later\\u{202e}');
});

test('a grant names what it covers, who gave it, and its limits', () => {
  const grant: TaskGrant = {
    grantId: 'g',
    scope: 'tool',
    tool: 'write-file',
    source: { type: 'built-in' },
    by: 'ada',
    channel: 'page',
    expiresAt: null,
    usesLeft: null,
  };
  expect(grantText(grant)).toBe('write-file, by ada on an approval page');
  expect(grantText({ ...grant, usesLeft: 1 })).toBe('write-file, by ada on an approval page, 1 more use');
  expect(grantText({ ...grant, scope: 'server', source: { type: 'mcp-server', server: 'git' } })).toBe(
    'all of git, by ada on an approval page',
  );
  expect(grantText({ ...grant, scope: 'always', expiresAt: '2026-01-01T00:00:00Z' })).toMatch(
    /^all tools, by ada on an approval page, until /,
  );
});
