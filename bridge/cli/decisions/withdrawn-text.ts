/** Says why a prompt has ended without an answer. Pure. */
import { decidedByText } from '../../../shared/text/decided-by-text.ts';
import { visibleText } from '../../../shared/text/visible-text.ts';
import { taskStateWord } from '../../../shared/text/task-state-word.ts';
import { hasEnded, type TaskView } from '../../sessions/session/observed-task.ts';

/** Matches an empty line, and a typed `y`, `yes`, `n` or `no`. `unsentLines` does not repeat these to the person. */
const BARE_DECISION_PATTERN = /^(y(es)?|no?)?$/i;

interface WithdrawnPrompt {
  view: Pick<TaskView, 'state' | 'pending' | 'calls'> | undefined;
  /** The call of the prompt. Undefined for a question without a call. */
  callId: string | undefined;
  /** What the person has typed at the prompt. */
  typed: string;
}

export function withdrawnText({ view, callId, typed }: WithdrawnPrompt): string {
  return [reasonOf(view, callId), ...unsentLines(typed)].join('\n');
}

/** Returns the typed text, so that the person can copy it. Returns nothing if the person has typed no text. */
export function unsentLines(typed: string): string[] {
  if (BARE_DECISION_PATTERN.test(typed.trim())) return [];
  return [`You had typed this. It was not sent:\n${visibleText(typed.trim())}`];
}

function reasonOf(view: WithdrawnPrompt['view'], callId: WithdrawnPrompt['callId']): string {
  if (view?.pending.some((action) => action.callId === callId) === true)
    return 'The action has changed, so the agent asks again.';
  const decided = view?.calls.find((call) => call.callId === callId)?.decided ?? null;
  // If the task has ended without a decision, e.g. because it has expired or was cancelled, nobody has decided the
  // action.
  if (decided === null && view !== undefined && hasEnded(view))
    return `It waits no more: the task is ${taskStateWord(view.state)}.`;
  if (decided === null) return 'It was decided elsewhere.';
  return `It was decided elsewhere: ${decidedByText(decided)}.`;
}
