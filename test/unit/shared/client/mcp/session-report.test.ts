import { describe, expect, test } from '@jest/globals';
import { ClientError } from '../../../../../shared/client/core/client-error.ts';
import { toBridgeDecision, taskReportOf } from '../../../../../shared/client/mcp/session-report.ts';
import { SESSION_STATES } from '../../../../../shared/protocol/session-states.ts';

test('an approval over the bridge keeps the limits of its trust', () => {
  expect(
    toBridgeDecision({
      callId: 'one',
      shown: '3f9ac2d1',
      decision: 'approve',
      scope: 'tool',
      grant: { minutes: 10, uses: 3 },
    }),
  ).toMatchObject({ decision: 'trust_tool', trustMinutes: 10, trustUses: 3 });
});

/** Returns the state that the client shows, or the code and reason of its error. */
function shownAs(state: string): string {
  const structuredContent = {
    sessionId: 's',
    taskId: 't',
    state,
    message: 'why',
    output: '',
    pending: [],
    question: null,
  };
  try {
    return taskReportOf({ content: [], structuredContent, isError: true }).state;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    expect(error.message).toContain('why');
    return [error.code, error.reason ?? []].flat().join(' ');
  }
}

describe('a state that the bridge reports', () => {
  const SHOWN = {
    not_delivered: 'not-delivered',
    working: 'working',
    input_required: 'waiting',
    completed: 'completed',
    cancelled: 'canceled',
    failed: 'failed',
    rejected: 'rejected',
    unknown_to_agent: 'refused UNKNOWN_TASK',
    unknown: 'outcome-unknown',
  } as const;

  test.each(SESSION_STATES)('R100 %s has its own name in the client library', (state) => {
    expect(shownAs(state)).toBe(SHOWN[state]);
  });
});
