/** Decides when one press may approve all actions that wait. Pure. */
import type { Decision } from '../../../../shared/client/index.ts';
import type { ShownAction } from './shown-actions.ts';

/** The maximum number of decisions in one message (`decisionsPartSchema`). */
const MAX_DECISIONS = 100;

type ApproveAllReadiness =
  /**
   * The page shows no button "Approve all". Either fewer than two or more than `MAX_DECISIONS` actions wait, or a
   * waiting action cannot be approved here or needs a passkey.
   */
  | { type: 'none' }
  /** The person has read `read` actions of `all`. */
  | { type: 'unread'; read: number; all: number }
  | { type: 'ready'; decisions: readonly Decision[] };

/**
 * Decides whether one press may approve all waiting actions. D2: each approval has the code of the action that the
 * person has read.
 * @param read the codes of the actions that the person has read
 */
export function approveAllReadinessOf(
  actions: readonly ShownAction[],
  read: ReadonlySet<string>,
): ApproveAllReadiness {
  const waiting = actions.flatMap(({ type, action }) => (type === 'waits' ? [action] : []));
  const canApprove = waiting.every(({ decisions, presence }) => decisions.includes('approve') && !presence);
  if (waiting.length < 2 || waiting.length > MAX_DECISIONS || !canApprove) return { type: 'none' };
  const count = waiting.filter(({ shown }) => read.has(shown)).length;
  if (count < waiting.length) return { type: 'unread', read: count, all: waiting.length };
  const decisions = waiting.map(({ callId, shown }): Decision => ({
    callId,
    shown,
    decision: 'approve',
    scope: 'once',
  }));
  return { type: 'ready', decisions };
}
