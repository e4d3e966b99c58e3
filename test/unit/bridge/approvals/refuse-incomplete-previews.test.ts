import { describe, expect, it } from '@jest/globals';
import { refuseIncompletePreviews } from '../../../../bridge/approvals/refuse-incomplete-previews.ts';
import { pendingReports } from '../../../../bridge/mcp/reports/session-report.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';

const long = pendingWrite('long', {
  preview: { type: 'command', command: `echo ${'x'.repeat(40_000)}; echo HIDDEN`, cwd: '/w' },
});

describe('an action whose preview was shortened', () => {
  it.each(['approve', 'edit', 'trust_tool', 'trust_always'] as const)(
    'R93 the action cannot be decided with %s',
    (decision) => {
      expect(() => refuseIncompletePreviews(pendingReports([long]), [{ callId: 'long', decision }])).toThrow(
        /can only be denied here, and nothing was decided\. .* "mcp-a2a-bridge show long"/,
      );
    },
  );

  it('the action can be denied, and other actions can be approved', () => {
    const short = pendingWrite('short');
    expect(() =>
      refuseIncompletePreviews(pendingReports([long, short]), [
        { callId: 'long', decision: 'deny' },
        { callId: 'short', decision: 'approve' },
      ]),
    ).not.toThrow();
  });
});
