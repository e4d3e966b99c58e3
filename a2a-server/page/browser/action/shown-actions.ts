/**
 * Computes the list of actions on the page. A decided action stays in the list, so that no other action moves under the
 * cursor.
 */
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';

export type ShownAction = { action: PendingAction } & (
  | { type: 'waits' }
  /**
   * This page decided the action. After a newer action has arrived (`newerCame`), the page shows this one in one line.
   */
  | { type: 'decided-here'; decision: Decision['decision']; newerCame: boolean }
  /** The action no longer waits. It was decided elsewhere, or the answer to this page's decision has not arrived. */
  | { type: 'gone'; newerCame: boolean }
);

/** The answer of the server to decisions that it did not accept. */
export interface DecisionRefusal {
  callIds: readonly string[];
  message: string;
}

/**
 * Returns the id of the call whose action shows the refusal. This is the last refused call that still waits, because
 * the button "Approve all" is below it. Returns undefined if no refused call waits any more.
 */
export function callIdForRefusal(
  actions: readonly ShownAction[],
  refusal: Pick<DecisionRefusal, 'callIds'> | undefined,
): string | undefined {
  const waits = ({ type, action: { callId } }: ShownAction): boolean =>
    type === 'waits' && refusal?.callIds.includes(callId) === true;
  return actions.findLast(waits)?.action.callId;
}

export function updateShownActions(
  shown: readonly ShownAction[],
  pending: readonly PendingAction[],
): readonly ShownAction[] {
  const added = pending.filter(({ callId }) => shown.every(({ action }) => action.callId !== callId));
  return [
    ...shown.map((each) => updateShownAction(each, pending, added.length > 0)),
    ...added.map((action): ShownAction => ({ type: 'waits', action })),
  ];
}

/**
 * Records that the server accepted this page's decision. If the server asks again about the same call before its
 * response arrives, the new question still waits (D2: a decision binds to what was shown).
 */
export function withAcceptedDecision(
  actions: readonly ShownAction[],
  { callId, shown, decision }: Pick<Decision, 'callId' | 'shown' | 'decision'>,
): readonly ShownAction[] {
  return actions.map((each) =>
    each.action.callId === callId && each.action.shown === shown
      ? {
          type: 'decided-here',
          action: each.action,
          decision,
          // The stream may bring a newer action before the answer to the decision.
          newerCame: each.type !== 'waits' && each.newerCame,
        }
      : each,
  );
}

function updateShownAction(
  each: ShownAction,
  pending: readonly PendingAction[],
  othersCame: boolean,
): ShownAction {
  const now = pending.find(({ callId }) => callId === each.action.callId);
  if (now === undefined) {
    if (each.type === 'waits') return { type: 'gone', action: each.action, newerCame: othersCame };
    return othersCame ? { ...each, newerCame: true } : each;
  }
  // This page has just decided this question. The stream may still report the question as pending, and the page does
  // not show it again.
  if (each.type === 'decided-here' && now.shown === each.action.shown) return each;
  return { type: 'waits', action: now };
}
