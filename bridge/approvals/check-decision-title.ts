/**
 * Checks the title in a decision. A client such as Claude Code shows a person the arguments of a tool call and asks
 * whether to run it. The person recognizes the pending action by its title. So the decision must contain the title of
 * the action that it decides. Pure.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { DecisionInput } from './decision-input.ts';

/** A pending action, as a tool result showed it to the model. */
interface TitledAction {
  callId: string;
  title: string;
}

/**
 * Compares the title in each decision with the title of the pending action.
 * @param required true if the client shows the arguments to a person before the tool call runs
 * @returns an error for the first decision with another title; undefined if all titles match. For a call that no longer
 * waits, there is no title to compare. R07: its agent then reports the earlier decision.
 */
export function wrongTitleError(
  shown: readonly TitledAction[],
  decisions: readonly Pick<DecisionInput, 'callId' | 'title'>[],
  required: boolean,
): ProductError | undefined {
  for (const { callId, title } of decisions) {
    const action = shown.find((each) => each.callId === callId);
    if (action === undefined || title === action.title || (title === undefined && !required)) continue;
    const problem =
      title === undefined
        ? `The decision on ${callId} needs the action's title: the person reads it in their client before they allow the call.`
        : `The decision on ${callId} names another title than the action has.`;
    return new ProductError(
      'INVALID_DECISION',
      `${problem} Nothing was decided. The title is ${JSON.stringify(action.title)}: show the person the action, and send their decision with it.`,
      { facts: { callId } },
    );
  }
  return undefined;
}
