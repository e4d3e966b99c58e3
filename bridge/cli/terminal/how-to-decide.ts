/** Tells a person at a terminal how to decide a pending action. Pure. */
import { otherApprover } from '../../../shared/protocol/demanded-approver.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';

/** The reason why no command can approve an action that demands presence. */
export const PASSKEY_ON_PAGE = 'A rule demands your passkey. Approve it on the page: mcp-a2a-bridge page.';

/**
 * Returns a sentence with the command that decides the action. It offers only decisions that this person is allowed to
 * make.
 */
export function howToDecide(action: PendingAction): string {
  const code = visibleLine(action.shown);
  const deny = `Deny it with: mcp-a2a-bridge deny ${code}`;
  if (otherApprover(action) !== undefined) return deny;
  if (action.presence === true) return `${PASSKEY_ON_PAGE} ${deny}`;
  const command = action.decisions.includes('answer') ? `answer ${code} <words>` : `approve ${code}`;
  return `Decide with: mcp-a2a-bridge ${command}`;
}
