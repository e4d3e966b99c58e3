/** Explains the next step, to the person or to the model of the MCP client. Pure. */
import { approverInsteadOfReader } from '../../../shared/protocol/demanded-approver.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { WaitEndReason } from '../../sessions/wait-for-session.ts';
import { hasEnded, type TaskView } from '../../sessions/session/observed-task.ts';
import type { NameOfTool } from '../../tool-names/tool-names.ts';

/** The facts about a session that determine the next step. */
export type NextStepInput = Pick<Session, 'id' | 'streamProblem' | 'settled' | 'stateName'> & {
  view: TaskView | undefined;
  asksOneByOne?: boolean;
  /** True if the message was not delivered, and the bridge no longer tries. */
  givenUp?: boolean;
};

type NextStep =
  | 'delegate-again'
  | 'wait-for-delivery'
  | 'delegate-the-rest'
  | 'follow-again'
  | 'begin-next-task'
  | 'wait-for-other-people'
  | 'decide'
  | 'sign-in'
  | 'answer'
  | 'send-message'
  | 'wait';

function nextStepOf(
  { view, streamProblem, settled, stateName, givenUp }: NextStepInput,
  end?: WaitEndReason,
): NextStep {
  if (givenUp === true) return 'delegate-again';
  if (stateName === 'not-delivered') return 'wait-for-delivery';
  if (stateName === 'unknown-to-agent') return 'delegate-the-rest';
  if (end === 'stream-lost' || (streamProblem !== undefined && !settled)) return 'follow-again';
  if (view === undefined) return 'wait';
  if (hasEnded(view)) return 'begin-next-task';
  if (waitsForOtherPeople(view)) return 'wait-for-other-people';
  if (view.pending.length > 0) return 'decide';
  if (view.state === 'auth-required') return 'sign-in';
  if (view.question !== null) return 'answer';
  return view.state === 'input-required' ? 'send-message' : 'wait';
}

export function nextStepText(session: NextStepInput, end: WaitEndReason, name: NameOfTool): string {
  const { pending = [], question = null } = session.view ?? {};
  const id = visibleLine(session.id);
  const delegate = name('delegate_task_to_assistant');
  const decide = name('approve_or_deny_pending_action');
  const wait = name('wait_for_task');
  const cancel = name('cancel_running_task');
  const asked = `callId "${visibleLine(question?.id ?? '')}", shown "${visibleLine(question?.shown ?? '')}"`;
  const signedIn =
    question === null
      ? `${delegate} and sessionId "${id}"`
      : `${decide} (sessionId "${id}", ${asked}, decision "answer", e.g. "I have signed in")`;
  const texts: Record<NextStep, string> = {
    'delegate-again': `Look at the agent first, then delegate it again with ${delegate}.`,
    'wait-for-delivery': `The bridge keeps the message and goes on trying. ${wait} with sessionId "${id}" waits for it; ${cancel} withdraws it. Repeating the same call is safe: it joins this message.`,
    'delegate-the-rest': `The agent no longer has the task, so it cannot be followed, decided or cancelled. Ask the person, then delegate what is left of it with ${delegate}, without sessionId.`,
    'follow-again': `${session.streamProblem?.message ?? ''} The task was not touched by this. Call ${wait} with sessionId "${id}" to go on following it.`,
    'begin-next-task': `To go on in this session, call ${delegate} with sessionId "${id}".`,
    'wait-for-other-people': `Tell the person who must decide this: nothing can be decided here. ${wait} with sessionId "${id}" shows later what they have decided; ${cancel} ends the task.`,
    decide: pending.every(isQuestion)
      ? `Ask the person, and send what they say with ${decide} (decision "answer", answer, title, sessionId "${id}", callId, shown), or "deny" if they do not want to answer. Do not answer for them.`
      : `Show this to the person and send what they decide with ${decide} (decision, title, sessionId "${id}", callId, shown). ${answerHint(pending)}${pending.length > 1 || session.asksOneByOne === true ? whenApprovedCallRuns(session) : ''}`,
    'sign-in': `The agent waits for the person to sign in. Show them what it says, with the address to open: only they can do it. Once they have, tell it so with ${signedIn}; if it notices by itself, ${wait} shows that it goes on. Do not ask for passwords or tokens, and send none.`,
    answer: `Ask the person, then call ${decide} with sessionId "${id}", ${asked}, decision "answer" and their words in "answer".`,
    'send-message': `The agent waits for a message: send it with ${delegate} and sessionId "${id}".`,
    wait: `It goes on by itself. ${wait} with sessionId "${id}" waits for it, ${name('check_task_progress_and_status')} looks, ${cancel} ends it.`,
  };
  return texts[nextStepOf(session, end)].trim();
}

/**
 * Returns the next step in fewer words, for a later result of the same task. For rare states, returns the full text.
 */
export function briefNextStepText(session: NextStepInput, end: WaitEndReason, name: NameOfTool): string {
  const { view } = session;
  if (view === undefined || view.state === 'auth-required') return nextStepText(session, end, name);
  const { pending } = view;
  const decide = name('approve_or_deny_pending_action');
  const texts: Partial<Record<NextStep, string>> = {
    'begin-next-task': `${name('delegate_task_to_assistant')} with this sessionId goes on.`,
    'wait-for-other-people': `Nothing can be decided here; ${name('wait_for_task')} shows later what the other person has decided.`,
    decide: pending.every(isQuestion)
      ? `Ask the person, and send what they say with ${decide} (decision "answer"), or "deny" if they do not want to answer. Do not answer for them.`
      : `Show it to the person and send what they decide with ${decide}. ${answerHint(pending)}${pending.length > 1 ? whenApprovedCallRuns(session) : ''}`,
    answer: `Ask the person; ${decide} takes their words in "answer" (decision "answer").`,
    wait: `It goes on by itself; ${name('wait_for_task')} waits for it.`,
  };
  return texts[nextStepOf(session, end)]?.trim() ?? nextStepText(session, end, name);
}

/** Returns the next step in very few words, for the short status. That status already contains the ids. */
export function shortNextStepText(session: NextStepInput, name: NameOfTool): string {
  const { pending = [], question = null } = session.view ?? {};
  const delegate = name('delegate_task_to_assistant');
  const decide = name('approve_or_deny_pending_action');
  const wait = name('wait_for_task');
  const answer = `Ask the person; ${decide} takes their answer. ${wait} has the whole question and its code.`;
  const texts: Record<NextStep, string> = {
    'delegate-again': 'Look at the agent first, then delegate it again.',
    'wait-for-delivery': `The bridge goes on trying. ${wait} waits for it; ${name('cancel_running_task')} withdraws it.`,
    'delegate-the-rest': `Delegate what is left of it with ${delegate}, without sessionId.`,
    'follow-again': `It cannot be followed at the moment. The task was not touched; ${wait} follows it again.`,
    'begin-next-task': `${wait} has the result.`,
    'wait-for-other-people': `Another person must decide, and not here. ${wait} says who.`,
    decide: `Show the person the previews, which ${wait} has, and send their decision with ${decide}.${pending.some(isQuestion) ? ' A question takes "answer".' : ''}`,
    'sign-in': question === null ? `The person has to sign in first; ${wait} has what to do.` : answer,
    answer,
    'send-message': `Send it a message with ${delegate}.`,
    wait: `It goes on by itself; ${wait} waits for it.`,
  };
  return texts[nextStepOf(session)];
}

/** True if the person at this client may decide none of the pending actions, and each action demands another approver. */
export function waitsForOtherPeople({ pending }: Pick<TaskView, 'pending'>): boolean {
  return (
    pending.length > 0 &&
    pending.every((action) => action.decisions.length === 0 && approverInsteadOfReader(action) !== undefined)
  );
}

function isQuestion({ decisions }: PendingAction): boolean {
  return decisions.includes('answer');
}

function answerHint(pending: readonly PendingAction[]): string {
  return pending.some(isQuestion)
    ? 'For a question that is the decision "answer", with what they say in "answer", or "deny" if they do not want to: do not answer for them. '
    : '';
}

/** Explains when an approved call runs. This depends on the agent's dialect. */
export function whenApprovedCallRuns({ asksOneByOne = false }: { asksOneByOne?: boolean }): string {
  return asksOneByOne
    ? 'An approved call runs at once; then the agent asks for the next call of its turn. A denial drops the calls after it.'
    : 'Nothing runs until every pending action is decided.';
}
