/**
 * The actions of a task that this visit shows. An action stays where it is when somebody has decided it, so that no other
 * action takes its place under the cursor. Pure.
 */
import type { Decision, PendingAction } from '../../../shared/client/index.ts';

export type ShownAction = { action: PendingAction } & (
  | { type: 'waits' }
  /** `folded`: another action has come since, so this one takes one line. */
  | { type: 'decided-here'; decision: Decision['decision']; folded: boolean }
  /** It waits no more, and this visit has not decided it. */
  | { type: 'gone' }
);

/** What is shown once these actions are pending. */
export function follow(
  shown: readonly ShownAction[],
  pending: readonly PendingAction[],
): readonly ShownAction[] {
  const added = pending.filter(({ callId }) => shown.every(({ action }) => action.callId !== callId));
  return [
    ...shown.map((each) => followed(each, pending, added.length > 0)),
    ...added.map((action): ShownAction => ({ type: 'waits', action })),
  ];
}

/** The server has taken this visit's decision. */
export function decidedHere(
  shown: readonly ShownAction[],
  callId: string,
  decision: Decision['decision'],
): readonly ShownAction[] {
  return shown.map((each) =>
    each.action.callId === callId
      ? { type: 'decided-here', action: each.action, decision, folded: false }
      : each,
  );
}

function followed(each: ShownAction, pending: readonly PendingAction[], othersCame: boolean): ShownAction {
  const now = pending.find(({ callId }) => callId === each.action.callId);
  if (now === undefined) {
    if (each.type === 'waits') return { type: 'gone', action: each.action };
    return each.type === 'decided-here' && othersCame ? { ...each, folded: true } : each;
  }
  // The stream may still show the question that was just decided.
  if (each.type === 'decided-here' && now.shown === each.action.shown) return each;
  return { type: 'waits', action: now };
}
