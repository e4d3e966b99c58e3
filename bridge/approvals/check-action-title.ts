/**
 * Checks the title in a decision. Clients such as Claude Code show a person the arguments of a tool call before the
 * call runs. The person recognises the action by its title. So the decision must have the title of its own action.
 * Pure.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { DecisionInput } from './decision-input.ts';

/** An action, as a tool result showed it to the model. */
interface TitledAction {
  callId: string;
  title: string;
}

/**
 * Compares the titles in decisions with the titles of their actions.
 * @param required true if the client shows the arguments to a person before the call
 * @returns an error for the first decision whose title is not its action's title; undefined if all match. A call that
 * no longer waits has no title to compare: its agent reports the earlier decision (R07).
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
