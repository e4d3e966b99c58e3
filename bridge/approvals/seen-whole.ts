/** D5: what was not shown whole is not approved there, whatever the decision says. Pure. */
import { ProductError } from '../../shared/errors.ts';
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import { pendingReports } from '../results/session-report.ts';
import type { DecisionInput } from './decision-words.ts';

/** Before a decision leaves that came over a tool's result. @throws ProductError FORBIDDEN for an approval of a cut preview */
export function refuseUnseen(
  pending: readonly PendingAction[],
  decisions: readonly Pick<DecisionInput, 'callId' | 'decision'>[],
): void {
  const reports = new Map(pendingReports(pending).map((report) => [report.callId, report]));
  for (const { callId, decision } of decisions) {
    const report = reports.get(callId);
    if (report === undefined || report.cut === 0 || report.decisions.includes(decision)) continue;
    throw new ProductError(
      'FORBIDDEN',
      `The preview of call ${callId} is too long to be shown here whole, so it can only be denied here, and nothing was decided. The person reads all of it with "mcp-a2a-bridge show ${callId}", or on the page, and decides there.`,
      { facts: { callId } },
    );
  }
}
