/**
 * Checks the title that a decision names. Clients such as Claude Code show a person the arguments of a call before
 * they allow it. The person recognises the action by its title. So the title must belong to the action that the
 * decision is on. Pure.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { DecisionInput } from './decision-input.ts';

/** An action as a tool's result shows it. */
interface TitledAction {
  callId: string;
  title: string;
}

/**
 * @param required whether the client can ask its person before it makes the call
 * @returns an error for the first decision whose title differs from its action's; undefined when all match. A call
 * that is not pending has no title to compare: its agent says how it was decided (R07).
 */
export function wrongTitle(
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
