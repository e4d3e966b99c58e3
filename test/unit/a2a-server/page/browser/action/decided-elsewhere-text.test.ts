import { describe, expect, test } from '@jest/globals';
import { agoText } from '../../../../../../a2a-server/page/browser/age-text.ts';
import { decidedElsewhereText } from '../../../../../../a2a-server/page/browser/action/decided-elsewhere-text.ts';

const at = '2020-01-01T00:00:00Z';
const now = Date.parse(at) + 150_000;

describe('the sentence about a decided action', () => {
  test('says who decided, over which channel and when', () => {
    const decided = { decision: 'deny', by: 'ada', channel: 'elicitation', at };
    expect(decidedElsewhereText({ callId: '1', state: 'denied', decided }, now)).toBe(
      'Denied by ada in a form of the MCP client, 3 minutes ago.',
    );
    expect(
      decidedElsewhereText(
        { callId: '1', state: 'ok', decided: { ...decided, decision: 'edit', channel: 'cli' } },
        now,
      ),
    ).toBe('Edited and approved by ada on the command line, 3 minutes ago.');
  });

  test('says that nobody decided, or that the action does not exist', () => {
    expect(decidedElsewhereText({ callId: '1', state: 'withdrawn' }, now)).toBe(
      'This action no longer waits: it is withdrawn. Nobody decided it.',
    );
    expect(decidedElsewhereText({ callId: '1', state: 'skipped' }, now)).toBe(
      'This action no longer waits: its task has ended. Nobody decided it.',
    );
    expect(decidedElsewhereText(undefined, now)).toBe('This task has no such action.');
  });
});

test.each([
  [-5_000, 'just now'],
  [1_000, 'just now'],
  [2_000, '2 seconds ago'],
  [89_000, '89 seconds ago'],
  [98_000, '2 minutes ago'],
  [150_000, '3 minutes ago'],
  [5_300_000, '88 minutes ago'],
  [7_200_000, '2 hours ago'],
  [3 * 86_400_000, '3 days ago'],
])('an age of %p ms is %p', (ms, text) => {
  expect(agoText(ms)).toBe(text);
});
