/** Explains the next step, to the person or to the model of the MCP client. Pure. */
import { approverInsteadOfReader } from '../../../shared/protocol/demanded-approver.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { WaitEndReason } from '../../sessions/wait-for-session.ts';
import { hasEnded, type TaskView } from '../../sessions/session/observed-task.ts';
import type { ToolName } from '../../tool-names/tool-names.ts';
/** The facts about a session that determine the next step. */
export type NextStepInput = Pick<Session, 'id' | 'trouble' | 'settled' | 'stateName'> & {
  view: TaskView | undefined;
  oneByOne?: boolean;
  /** True if the message was not delivered, and the bridge no longer tries. */
  givenUp?: boolean;
};

export function nextStepText(
  session: NextStepInput,
  end: WaitEndReason,
  name: (tool: ToolName) => string,
): string {
  const { view, trouble, stateName, givenUp } = session;
  const id = visibleLine(session.id);
  if (givenUp === true)
    return `Look at the agent first, then delegate it again with ${name('delegate_task_to_assistant')}.`;
  if (stateName === 'not-delivered')
    return `The bridge keeps the message and goes on trying. ${name('wait_for_task')} with sessionId "${id}" waits for it; ${name('cancel_running_task')} withdraws it. Repeating the same call is safe: it joins this message.`;
  if (stateName === 'unknown-to-agent')
    return `The agent no longer has the task, so it cannot be followed, decided or cancelled. Ask the person, then delegate what is left of it with ${name('delegate_task_to_assistant')}, without sessionId.`;
  if (end === 'trouble' || (trouble !== undefined && !session.settled)) {
    return `${trouble?.message ?? ''} The task was not touched by this. Call ${name('wait_for_task')} with sessionId "${id}" to go on following it.`.trim();
  }
  if (view !== undefined && hasEnded(view)) {
    return `To go on in this session, call ${name('delegate_task_to_assistant')} with sessionId "${id}".`;
  }
  if (view !== undefined && waitsForOtherPeople(view))
    return `Tell the person who must decide this: nothing can be decided here. ${name('wait_for_task')} with sessionId "${id}" shows later what they have decided; ${name('cancel_running_task')} ends the task.`;
  if (view !== undefined && view.pending.length > 0) {
    const decide = name('approve_or_deny_pending_action');
    if (view.pending.every(isQuestion))
      return `Ask the person, and send what they say with ${decide} (decision "answer", answer, title, sessionId "${id}", callId, shown), or "deny" if they do not want to answer. Do not answer for them.`;
    return `Show this to the person and send what they decide with ${decide} (decision, title, sessionId "${id}", callId, shown). ${answering(view)}${whenSeveralRun(view, session)}`.trim();
  }
  if (view?.state === 'auth-required') {
    const tell =
      view.question === null
        ? `tell it so with ${name('delegate_task_to_assistant')} and sessionId "${id}"`
        : `tell it so with ${name('approve_or_deny_pending_action')} (sessionId "${id}", callId "${visibleLine(view.question.id)}", shown "${visibleLine(view.question.shown)}", decision "answer", e.g. "I have signed in")`;
    return `The agent waits for the person to sign in. Show them what it says, with the address to open: only they can do it. Once they have, ${tell}; if it notices by itself, ${name('wait_for_task')} shows that it goes on. Do not ask for passwords or tokens, and send none.`;
  }
  if (view !== undefined && view.question !== null) {
    return `Ask the person, then call ${name('approve_or_deny_pending_action')} with sessionId "${id}", callId "${visibleLine(view.question.id)}", shown "${visibleLine(view.question.shown)}", decision "answer" and their words in "answer".`;
  }
  if (view?.state === 'input-required') {
    return `The agent waits for a message: send it with ${name('delegate_task_to_assistant')} and sessionId "${id}".`;
  }
  return `It goes on by itself. ${name('wait_for_task')} with sessionId "${id}" waits for it, ${name('check_task_progress_and_status')} looks, ${name('cancel_running_task')} ends it.`;
}

/**
 * Returns the next step in fewer words, for a later result of the same task. For rare states, returns the full text.
 */
export function briefNextStepText(
  session: NextStepInput,
  end: WaitEndReason,
  name: (tool: ToolName) => string,
): string {
  const { view, trouble, settled, stateName } = session;
  const decide = name('approve_or_deny_pending_action');
  const rare = stateName === 'not-delivered' || stateName === 'unknown-to-agent' || end === 'trouble';
  if (rare || view === undefined || view.state === 'auth-required' || (trouble !== undefined && !settled))
    return nextStepText(session, end, name);
  if (hasEnded(view)) return `${name('delegate_task_to_assistant')} with this sessionId goes on.`;
  if (waitsForOtherPeople(view))
    return `Nothing can be decided here; ${name('wait_for_task')} shows later what the other person has decided.`;
  if (view.pending.length > 0) {
    if (view.pending.every(isQuestion))
      return `Ask the person, and send what they say with ${decide} (decision "answer"), or "deny" if they do not want to answer. Do not answer for them.`;
    return `Show it to the person and send what they decide with ${decide}. ${answering(view)}${view.pending.length > 1 ? whenApprovedCallRuns(session) : ''}`.trim();
  }
  if (view.question !== null)
    return `Ask the person; ${decide} takes their words in "answer" (decision "answer").`;
  return view.state === 'input-required'
    ? nextStepText(session, end, name)
    : `It goes on by itself; ${name('wait_for_task')} waits for it.`;
}

/** Returns the next step in very few words, for the short status. That status already contains the ids. */
export function shortNextStepText(
  { view, trouble, settled, stateName, givenUp }: NextStepInput,
  name: (tool: ToolName) => string,
): string {
  const wait = name('wait_for_task');
  if (givenUp === true) return 'Look at the agent first, then delegate it again.';
  if (stateName === 'not-delivered')
    return `The bridge goes on trying. ${wait} waits for it; ${name('cancel_running_task')} withdraws it.`;
  if (stateName === 'unknown-to-agent')
    return `Delegate what is left of it with ${name('delegate_task_to_assistant')}, without sessionId.`;
  if (trouble !== undefined && !settled)
    return `It cannot be followed at the moment. The task was not touched; ${wait} follows it again.`;
  if (view !== undefined && hasEnded(view)) return `${wait} has the result.`;
  const decide = name('approve_or_deny_pending_action');
  if (view !== undefined && waitsForOtherPeople(view))
    return `Another person must decide, and not here. ${wait} says who.`;
  if (view !== undefined && view.pending.length > 0)
    return `Show the person the previews, which ${wait} has, and send their decision with ${decide}.${asksIn(view) ? ' A question takes "answer".' : ''}`;
  if (view !== undefined && view.question !== null)
    return `Ask the person; ${decide} takes their answer. ${wait} has the whole question and its code.`;
  if (view?.state === 'auth-required') return `The person has to sign in first; ${wait} has what to do.`;
  if (view?.state === 'input-required')
    return `Send it a message with ${name('delegate_task_to_assistant')}.`;
  return `It goes on by itself; ${wait} waits for it.`;
}

/** True if only other people may decide the pending actions. Each action names these people. */
export function waitsForOtherPeople({ pending }: Pick<TaskView, 'pending'>): boolean {
  return (
    pending.length > 0 &&
    pending.every((action) => action.decisions.length === 0 && approverInsteadOfReader(action) !== undefined)
  );
}

function asksIn({ pending }: TaskView): boolean {
  return pending.some(isQuestion);
}

function isQuestion({ decisions }: PendingAction): boolean {
  return decisions.includes('answer');
}

/** Explains when an approved call runs, if several calls wait or the agent asks about one call at a time. */
function whenSeveralRun({ pending }: TaskView, session: NextStepInput): string {
  return pending.length > 1 || session.oneByOne === true ? whenApprovedCallRuns(session) : '';
}

function answering(view: TaskView): string {
  return asksIn(view)
    ? 'For a question that is the decision "answer", with what they say in "answer", or "deny" if they do not want to: do not answer for them. '
    : '';
}

/** Explains when an approved call runs. This depends on the agent's dialect. */
export function whenApprovedCallRuns({ oneByOne = false }: { oneByOne?: boolean }): string {
  return oneByOne
    ? 'An approved call runs at once; then the agent asks for the next call of its turn. A denial drops the calls after it.'
    : 'Nothing runs until every pending action is decided.';
}
