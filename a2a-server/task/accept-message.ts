import type { TraceContext } from '../../shared/net/trace-context.ts';
import { taskStateWord } from '../../shared/text/task-state-word.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import type { TaskEvent, UserMessage } from './events.ts';
import { mayHaveAskedBefore, isFirstQuestion } from './pending.ts';
import { taskEndedRefusal, type CommandRefusal, type CommandOutcome } from './command-outcome.ts';
import {
  isTerminal,
  PARKED_STATES,
  questionOfCall,
  waitingCalls,
  type Call,
  type Snapshot,
} from './snapshot.ts';

interface MessageOrigin {
  /** The principal who sends the message. By default, the principal who began the task. */
  principal?: string;
  channel: string;
  wordsDecide: boolean;
  /** True if the sender may approve. The default is true. */
  mayApprove?: boolean;
  taskId?: string | undefined;
  trace?: TraceContext | undefined;
}

/**
 * Accepts a message for the model: `(snapshot, message) → events | refusal`. Total and pure. A message during a turn
 * waits for the next turn.
 */
export function acceptMessage(
  snapshot: Snapshot,
  message: UserMessage,
  { principal = snapshot.principal, channel, wordsDecide, mayApprove = true, taskId, trace }: MessageOrigin,
): CommandOutcome {
  if (isTerminal(snapshot)) return taskEndedRefusal(snapshot);
  if (message.command !== undefined) return commandNeedsOwnTask(snapshot);
  const waiting = waitingCalls(snapshot);
  if (waiting.length > 0) {
    const ids = waiting.map((call) => call.callId).join(', ');
    return {
      type: 'refuse',
      reason: 'DECISION_NEEDED',
      message:
        waiting.length === 1
          ? `The task waits for a decision on call ${ids} (${visibleLine(waiting[0]?.title ?? '')}). ${wantedOf(snapshot, waiting[0], { wordsDecide, named: taskId !== undefined })}; to change course, deny with a reason.`
          : `The task waits for decisions on ${waiting.length} calls (${ids}). Send a decision that names the call ids; to change course, deny with a reason.`,
      facts: { pending: ids },
    };
  }
  if (!mayApprove && asksForBudget(snapshot))
    return {
      type: 'refuse',
      reason: 'FORBIDDEN',
      message:
        'The task asks whether to spend more, and any reply agrees. This needs the role approve, which your token lacks. Nothing was changed.',
    };
  if (wordsDecide && saysNo(snapshot, message))
    return {
      type: 'refuse',
      reason: 'DECISION_NEEDED',
      message:
        'The task asks whether to continue, and any reply continues it. Nothing was changed. Cancel the task to end it.',
    };
  if (wordsDecide && isStrayWord(snapshot, message, taskId))
    return {
      type: 'refuse',
      reason: 'DECISION_NEEDED',
      message:
        'The words "approve" and "deny" may belong to another question of the task or the session. Nothing was changed. Get the task, read its question, and answer it in other words, with the task id.',
    };
  const received: TaskEvent = {
    type: 'message.received',
    message,
    channel,
    ...(principal !== snapshot.principal && { by: principal }),
    ...(trace && { trace }),
  };
  const { status } = snapshot;
  // The checks above refuse a message while an action is pending. So if the task waits at this point, it waits for a
  // reply, and the message continues the task.
  if (!PARKED_STATES.has(status.state)) return [received];
  const dayCost = status.state === 'input-required' ? status.dayCost : undefined;
  return [received, { type: 'task.working', ...(dayCost && { dayCost }) }];
}

function wantedOf(
  snapshot: Snapshot,
  call: Call | undefined,
  { wordsDecide, named }: { wordsDecide: boolean; named: boolean },
): string {
  const later = call !== undefined && !isFirstQuestion(snapshot, call);
  if (call && questionOfCall(call) !== undefined) {
    if (!wordsDecide)
      return 'It is a question: send a decision that names the call, "answer" with the answer';
    return later
      ? `It is a question: answer it with one text. The words "approve" and "deny" may belong to an earlier question: read this one, and answer with "answer <its code> <your words>"`
      : 'It is a question: answer it with one text, or send a decision';
  }
  if (!wordsDecide) return 'Send a decision that names the call';
  if (!named) return 'A plain "approve" or "deny" needs the task id: send it with the task id';
  return later
    ? 'It is not the first question of the task: get the task, read the question, and answer with the words that it names'
    : 'Answer with exactly "approve" or "deny", or send a decision';
}

/**
 * True if the message is only the word `approve` or `deny`, and the client may have meant an earlier question. If the
 * message names the task, only an earlier question of this task counts.
 */
function isStrayWord(
  snapshot: Snapshot,
  { parts: [part, more] }: UserMessage,
  taskId: string | undefined,
): boolean {
  if (!PARKED_STATES.has(snapshot.status.state) || part?.type !== 'text' || more !== undefined) return false;
  return /^(approve|deny)$/.test(part.text) && (taskId === undefined || mayHaveAskedBefore(snapshot));
}

/** True if the person wrote `deny` to a budget question. Any other reply to a budget question means yes. */
function saysNo(snapshot: Snapshot, { parts: [part, more] }: UserMessage): boolean {
  return asksForBudget(snapshot) && part?.type === 'text' && part.text === 'deny' && more === undefined;
}

/** True if the task waits because its budget, or the daily budget, is spent. */
function asksForBudget({ status }: Snapshot): boolean {
  return status.state === 'input-required' && (status.budget === true || status.dayCost !== undefined);
}

/**
 * Refuses an agent command while the session has a live task. A command needs its own task, but a session has at most
 * one live task.
 */
function commandNeedsOwnTask({ taskId, sessionId, status }: Snapshot): CommandRefusal {
  return {
    type: 'refuse',
    reason: 'SESSION_BUSY',
    message: `Task ${taskId} of session ${sessionId} has not ended (${taskStateWord(status.state)}), and a command needs its own task. Nothing was changed. Send the command without the session id, or after the end of that task.`,
    facts: { taskId, state: status.state },
  };
}
