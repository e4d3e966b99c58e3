/**
 * Applies commands to a task: `(snapshot, command) → events | refusal`. Total and pure.
 *
 * - D1: the first valid decision wins. Unknown, late, duplicate and conflicting decisions get a typed refusal. Only
 *   exact words are decisions.
 * - D3: each call has its own decision. The same append lists the calls that still wait.
 * - E3: a refused command changes nothing. If one decision of a message is invalid, the task refuses all of them.
 * - J3: an ended task gets no more events.
 */
import type {
  DecisionScope,
  DecisionWord,
  GrantLimits,
  PendingReason,
  StopReason,
} from '../../shared/protocol/tool-approval.ts';
import { quotedPreview, TEXT_PART_LIMITS } from '../../shared/protocol/preview-text.ts';
import type { Answer } from '../../shared/protocol/question.ts';
import type { Facts, Reason } from '../../shared/runtime/errors.ts';
import type { Decider, RequestedCall, TaskEvent, ToolOutcome, UserMessage } from './events.ts';
import { foldNext } from './fold.ts';
import { hasAsked, isFirstQuestion, parkOrContinue } from './pending.ts';
import { shownOf } from './shown.ts';
import { checkAnswer, wrongWord } from './answer.ts';
import {
  callOf,
  isAgentsOwn,
  isTerminal,
  isSettled,
  PARKED_STATES,
  questionOf,
  waitingCalls,
  type Call,
  type Snapshot,
} from './snapshot.ts';
import { stateWord } from '../../shared/text/state-word.ts';

export interface CommandRefusal {
  type: 'refuse';
  reason: Reason;
  message: string;
  facts?: Facts;
}

export type Ruling = { type: 'append'; events: TaskEvent[] } | CommandRefusal;

/** One decision. An edit has passed the tool's schema and has a new preview. */
export interface ResolvedDecision {
  callId: string;
  decision: DecisionWord;
  scope: DecisionScope;
  /** The limits of the grant that the scope creates. */
  grant?: GrantLimits | undefined;
  reason: string | null;
  /**
   * The code of the question that the person saw. Null for a plain word, which decides only the task's first question.
   */
  shown: string | null;
  edited: Pick<RequestedCall, 'title' | 'input' | 'inputHash' | 'preview' | 'basis'> | null;
  /** The person's unchecked answer. Only with `answer`. */
  answer?: Answer;
}

/** Accepts a message for the model. During a turn, the message waits in a queue for the next turn (R04). */
export function acceptMessage(
  snapshot: Snapshot,
  message: UserMessage,
  { channel, wordsDecide, taskId }: { channel: string; wordsDecide: boolean; taskId?: string | undefined },
): Ruling {
  if (isTerminal(snapshot)) return taskEndedRefusal(snapshot);
  if (message.command !== undefined) return underWay(snapshot);
  const waiting = waitingCalls(snapshot);
  if (waiting.length > 0) {
    const ids = waiting.map((call) => call.callId).join(', ');
    return {
      type: 'refuse',
      reason: 'DECISION_NEEDED',
      message:
        waiting.length === 1
          ? `The task waits for a decision on call ${ids} (${waiting[0]?.title}). ${wantedOf(snapshot, waiting[0], { wordsDecide, named: taskId !== undefined })}; to change course, deny with a reason.`
          : `The task waits for decisions on ${waiting.length} calls (${ids}). Send a decision that names the call ids; to change course, deny with a reason.`,
      facts: { pending: ids },
    };
  }
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
  const received: TaskEvent = { type: 'message.received', message, channel };
  const { status } = snapshot;
  // If the parked task has no pending actions, it waits for a reply.
  if (!PARKED_STATES.has(status.state)) return { type: 'append', events: [received] };
  const dayCost = status.state === 'input-required' ? status.dayCost : undefined;
  return { type: 'append', events: [received, { type: 'task.working', ...(dayCost && { dayCost }) }] };
}

function wantedOf(
  snapshot: Snapshot,
  call: Call | undefined,
  { wordsDecide, named }: { wordsDecide: boolean; named: boolean },
): string {
  const later = call !== undefined && !isFirstQuestion(snapshot, call);
  if (call && questionOf(call) !== undefined) {
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
 * True if a reply in words is `approve` or `deny` and may belong to another question. If the message names the task and
 * this is its first question, the reply belongs to it. For example, `approve` continues a task after a spent budget.
 */
function isStrayWord(
  snapshot: Snapshot,
  { parts: [part, more] }: UserMessage,
  taskId: string | undefined,
): boolean {
  if (!PARKED_STATES.has(snapshot.status.state) || part?.type !== 'text' || more !== undefined) return false;
  return /^(approve|deny)$/.test(part.text) && (taskId === undefined || hasAsked(snapshot));
}

/** True if the person wrote `deny` to a budget question. Any other reply to it means yes. */
function saysNo({ status }: Snapshot, { parts: [part, more] }: UserMessage): boolean {
  return (
    status.state === 'input-required' &&
    (status.budget === true || status.dayCost !== undefined) &&
    part?.type === 'text' &&
    part.text === 'deny' &&
    more === undefined
  );
}

/**
 * Reads the plain text of a client without the extension as a decision. Exactly one action must be pending. A plain word
 * decides only the task's first question. For each later question, the word needs the code after it, because a plain
 * word may belong to an earlier question (D2). Any other text is an answer to a question.
 * @param taskId the task that the message names. Without it, a plain word may belong to another task of the session.
 */
export function decisionInText(
  snapshot: Snapshot,
  message: UserMessage,
  taskId: string | undefined,
): ResolvedDecision | undefined {
  const [part, more] = message.parts;
  const [call, another] = waitingCalls(snapshot);
  if (part?.type !== 'text' || more !== undefined || call === undefined || another !== undefined)
    return undefined;
  const bare = { callId: call.callId, scope: 'once', reason: null, shown: null, edited: null } as const;
  const [, word, code] = WORDS.exec(part.text) ?? [];
  const isFirst = taskId !== undefined && isFirstQuestion(snapshot, call);
  if (questionOf(call) !== undefined) {
    const [, shown, words] = ANSWER.exec(part.text) ?? [];
    if (shown !== undefined && words !== undefined)
      return { ...bare, decision: 'answer', shown, answer: words };
    return word === undefined || isFirst ? { ...bare, decision: 'answer', answer: part.text } : undefined;
  }
  if (word !== 'approve' && word !== 'deny') return undefined;
  // D5: the text part shows this client only a part of the action.
  if (word === 'approve' && quotedPreview(call.preview, TEXT_PART_LIMITS).extent === 'cut') return undefined;
  return code === undefined && !isFirst ? undefined : { ...bare, decision: word, shown: code ?? null };
}

const WORDS = /^(approve|deny)(?: ([0-9a-f]+))?$/;
const ANSWER = /^answer ([0-9a-f]{8}) (.+)$/s;

/** Decides calls. If one decision of a message is invalid, this applies no decision. */
export function decide(
  snapshot: Snapshot,
  decisions: readonly ResolvedDecision[],
  by: Decider,
  at: number,
): Ruling {
  const events: TaskEvent[] = [];
  for (const decision of decisions) {
    const refusal = objection(snapshot, decision) ?? repeatedIn(decisions, decision);
    if (refusal) return refusal;
    const call = callOf(snapshot, decision.callId);
    if (call === undefined) continue;
    const read = decision.decision === 'answer' ? checkAnswer(call, decision.answer) : undefined;
    if (read?.ok === false) return invalid(read.message);
    const event: TaskEvent = {
      type: 'tool.decided',
      callId: call.callId,
      tool: call.tool,
      title: decision.edited?.title ?? call.title,
      decision: decision.decision,
      scope: decision.scope,
      by,
      inputHash: call.inputHash,
      reason: decision.reason,
      ...(decision.grant && { grant: decision.grant }),
      ...(read && { answer: read.answer }),
      edited: decision.edited,
    };
    events.push(event);
  }
  return { type: 'append', events: [...events, parkOrContinue(foldNext(snapshot, events, at))] };
}

/** Asks again about a waiting call whose files have changed. Does nothing if another command has changed the call. */
export function askAgain(
  snapshot: Snapshot,
  shown: Call,
  event: Extract<TaskEvent, { type: 'tool.outdated' }>,
): { type: 'append'; events: TaskEvent[] } | { type: 'keep' } {
  const call = callOf(snapshot, shown.callId);
  if (isTerminal(snapshot) || call?.state.type !== 'waiting' || call.basis !== shown.basis)
    return { type: 'keep' };
  return { type: 'append', events: [event, parkOrContinue(foldNext(snapshot, [event]))] };
}

/** Ends the task in any state (A4). Records its running tool executions as stopped by the cancel (A1). */
export function cancel(snapshot: Snapshot, reason: string, by: Decider): Ruling {
  if (isTerminal(snapshot)) return taskEndedRefusal(snapshot);
  const stopped = stoppedCalls(snapshot, {
    reason: 'task-cancel',
    message: `Stopped because the task was cancelled: ${reason}`,
  });
  return { type: 'append', events: [...stopped, { type: 'task.canceled', reason, by }] };
}

/** The end of reading by the sender of a message. */
export interface ReadersLeft {
  /** The task's `seq` when the server accepted the message. A newer message shows that a client has come back. */
  messageSeq: number;
  reason: string;
}

/** Cancels a task that works. Keeps a task that waits, that has ended, or that has a newer message. */
export function cancelWork(
  snapshot: Snapshot,
  { messageSeq, reason }: ReadersLeft,
  by: Decider,
): Ruling | { type: 'keep' } {
  return isSettled(snapshot) || snapshot.messageSeq > messageSeq
    ? { type: 'keep' }
    : cancel(snapshot, reason, by);
}

/** Ends a task that exceeded its time limit (A1). */
export function timeOut(snapshot: Snapshot, message: string): Ruling {
  if (isTerminal(snapshot)) return taskEndedRefusal(snapshot);
  const stopped = stoppedCalls(snapshot, { reason: 'timeout', message });
  return { type: 'append', events: [...stopped, { type: 'task.failed', message }] };
}

/** Returns the events for tool executions that still run at the end of their task. */
function stoppedCalls({ calls }: Snapshot, stop: { reason: StopReason; message: string }): TaskEvent[] {
  return Object.values(calls).flatMap(({ callId, tool, title, state }): TaskEvent[] => {
    if (state.type !== 'running') return [];
    const outcome: ToolOutcome = { type: 'stopped', ...stop, confirmed: false, text: '' };
    return [{ type: 'tool.finished', callId, tool, title, toolId: state.toolId, outcome }];
  });
}

/** Returns the refusal of a command on an ended task. */
export function taskEndedRefusal(snapshot: Snapshot): CommandRefusal {
  return {
    type: 'refuse',
    reason: 'TASK_ENDED',
    message: `Task ${snapshot.taskId} has ended (${stateWord(snapshot.status.state)}); nothing was changed. Send the message with the session id alone to start the session's next task.`,
    facts: { state: snapshot.status.state },
  };
}

/** Refuses an agent command. It needs its own task, but a session has at most one live task. */
function underWay({ taskId, sessionId, status }: Snapshot): CommandRefusal {
  return {
    type: 'refuse',
    reason: 'SESSION_BUSY',
    message: `Task ${taskId} of session ${sessionId} has not ended (${stateWord(status.state)}), and a command needs its own task. Nothing was changed. Send the command without the session id, or after the end of that task.`,
    facts: { taskId, state: status.state },
  };
}

function repeatedIn(
  decisions: readonly ResolvedDecision[],
  decision: ResolvedDecision,
): CommandRefusal | undefined {
  if (decisions.filter((other) => other.callId === decision.callId).length < 2) return undefined;
  return invalid(`Call ${decision.callId} is decided twice in one message; send one decision for each call.`);
}

/** Returns the reason to refuse a decision; undefined if the decision is valid. */
function objection(snapshot: Snapshot, decision: ResolvedDecision): CommandRefusal | undefined {
  const call = callOf(snapshot, decision.callId);
  if (call === undefined) return unknownCall(snapshot, decision.callId);
  if (call.decided) return alreadyDecided(call, call.decided);
  if (isTerminal(snapshot)) return taskEndedRefusal(snapshot);
  if (call.state.type === 'settled' && call.state.result.type === 'withdrawn')
    return {
      type: 'refuse',
      reason: 'ALREADY_DECIDED',
      message: `Question ${call.callId} (${call.title}) no longer waits: the tool that asked it has ended. Nothing was changed.`,
      facts: { callId: call.callId },
    };
  if (call.state.type !== 'waiting')
    return {
      type: 'refuse',
      reason: 'ALREADY_DECIDED',
      message: `Call ${call.callId} (${call.title}) needs no decision: the policy allowed it. Nothing was changed.`,
      facts: { callId: call.callId },
    };
  const { shown } = decision;
  // A plain answer always belongs to this question. A plain decision may belong to an earlier question.
  const plain = decision.decision === 'answer' || isFirstQuestion(snapshot, call);
  if (shown === null ? !plain : shown !== shownOf(call, call.state.reason))
    return otherQuestionRefusal(call, call.state.reason);
  const mismatch = wrongWord(call, call.state.reason, decision);
  if (mismatch !== undefined) return invalid(mismatch);
  if (decision.decision === 'deny' && decision.scope !== 'once')
    return invalid('A denial applies to one call only. Use scope "once", or omit it.');
  if (decision.scope === 'server' && call.source.type === 'built-in')
    return invalid(
      `${call.tool} is a built-in tool and belongs to no server. Use the scope "tool", "always" or "once".`,
    );
  if (decision.decision === 'edit' && isAgentsOwn(call))
    return invalid(
      `The agent runs call ${call.callId} itself, so you cannot edit its input. Approve it, or deny it and say in the reason what you want instead.`,
    );
  if (decision.decision === 'edit' && call.state.reason === 'outcome-unknown')
    return invalid(
      `The outcome of call ${call.callId} is unknown, so you cannot edit it. "approve" runs it again, "deny" skips it.`,
    );
  if ((decision.decision === 'edit') !== (decision.edited !== null))
    return invalid('Send the new input with "edit", and only with "edit".');
  return undefined;
}

/** Returns the refusal of a decision on an old question. The client must read the new code from the new question. */
export function otherQuestionRefusal({ callId, title }: Call, reason: PendingReason): CommandRefusal {
  return {
    type: 'refuse',
    reason: 'INPUT_CHANGED',
    message: `Call ${callId} (${title}) is not what was shown.${ASKED_AGAIN[reason]} Nothing was decided. Show the current pending action, and decide with its code.`,
    facts: { callId, reason },
  };
}

const ASKED_AGAIN: Readonly<Record<PendingReason, string>> = {
  approval: '',
  'outcome-unknown': ' It started before, and its outcome was lost: an approval would run it again.',
  'content-changed': ' The content that it would change is now different.',
  question: '',
};

function alreadyDecided(call: Call, decided: NonNullable<Call['decided']>): CommandRefusal {
  return {
    type: 'refuse',
    reason: 'ALREADY_DECIDED',
    message: `Call ${call.callId} (${call.title}) was decided before: ${decided.decision}, by ${decided.by.principal} over ${decided.by.channel} at ${new Date(decided.at).toISOString()}. That decision stands.`,
    facts: {
      callId: call.callId,
      firstDecision: decided.decision,
      decidedBy: decided.by.principal,
      channel: decided.by.channel,
      decidedAt: new Date(decided.at).toISOString(),
    },
  };
}

function unknownCall(snapshot: Snapshot, callId: string): CommandRefusal {
  // After the end of the task, no call waits.
  const pending = isTerminal(snapshot) ? [] : waitingCalls(snapshot).map((call) => call.callId);
  const others = pending.length > 0 ? `Pending: ${pending.join(', ')}.` : 'No call waits for a decision.';
  const end = isTerminal(snapshot) ? ` The task has ended (${stateWord(snapshot.status.state)}).` : '';
  return {
    type: 'refuse',
    reason: 'UNKNOWN_CALL',
    message: `Task ${snapshot.taskId} has no call ${callId}.${end} ${others}`,
    facts: { callId, pending: pending.join(', ') },
  };
}

function invalid(message: string): CommandRefusal {
  return { type: 'refuse', reason: 'INVALID_DECISION', message };
}
