/**
 * Refuses the approval of an action whose preview was incomplete. D5: a person can approve only what is shown in full.
 * Pure.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { DecisionInput, McpDecisionWord } from './decision-input.ts';

/** A pending action, as a tool result or a webhook post showed it. */
interface ActionAsShown {
  callId: string;
  /** The number of characters of the preview that were left out. */
  cut: number;
  decisions: readonly McpDecisionWord[];
}

/**
 * Checks decisions against the previews that were incomplete in earlier tool results. The preview might fit into a
 * result now, because fewer actions wait. But the person has not seen all of it yet.
 * @returns an error for the first approval of such an action; undefined if there is none
 */
export function findIncompletePreviewError(
  decisions: readonly Pick<DecisionInput, 'callId' | 'shown' | 'decision'>[],
  wasIncomplete: (shown: string) => boolean,
): ProductError | undefined {
  const unseen = decisions.find(
    ({ decision, shown }) => decision !== 'deny' && decision !== 'answer' && wasIncomplete(shown),
  );
  if (unseen === undefined) return undefined;
  const { callId } = unseen;
  return new ProductError(
    'FORBIDDEN',
    `The preview of call ${callId} was cut when it was shown, so nothing was decided. Below is all of it: show it to the person, and send what they decide then.`,
    { facts: { callId } },
  );
}

/**
 * Throws if a decision approves an action whose preview was incomplete. Callers run this check before they send the
 * decisions.
 * @throws ProductError FORBIDDEN
 */
export function refuseIncompletePreviews(
  shown: readonly ActionAsShown[],
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
