/** Refuses to approve an action whose preview was not shown in full (D5). Pure. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { DecisionInput, McpDecisionWord } from './decision-input.ts';

/** An action, as a tool result or a webhook post showed it. */
interface ShownAction {
  callId: string;
  /** Characters of the preview that were left out. */
  cut: number;
  decisions: readonly McpDecisionWord[];
}

/**
 * Returns an error for an approval if an earlier result cut the action's preview. The preview may fit now, because
 * fewer actions wait. But the person has not seen all of it yet.
 * @returns undefined if no decision approves such an action
 */
export function cutPreviewError(
  decisions: readonly Pick<DecisionInput, 'callId' | 'shown' | 'decision'>[],
  wasCut: (shown: string) => boolean,
): ProductError | undefined {
  const unseen = decisions.find(
    ({ decision, shown }) => decision !== 'deny' && decision !== 'answer' && wasCut(shown),
  );
  if (unseen === undefined) return undefined;
  const { callId } = unseen;
  return new ProductError(
    'FORBIDDEN',
    `The preview of call ${callId} was cut when it was shown, so nothing was decided. Below is all of it: show it to the person, and send what they decide then.`,
    { facts: { callId } },
  );
}

/** Call this before sending a decision. @throws ProductError FORBIDDEN for an approval of a cut preview */
export function refuseCutPreviews(
  shown: readonly ShownAction[],
  decisions: readonly Pick<DecisionInput, 'callId' | 'decision'>[],
): void {
  const reports = new Map(shown.map((report) => [report.callId, report]));
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
