/**
 * `(snapshot, command) → events | refusal`, total and pure.
 *
 * - D1 the first valid decision wins; unknown, late, duplicate and conflicting ones are refused with a sentence that
 *   names it. Anything but an exact decision word is no decision.
 * - D3 calls are decided one by one; what still waits is said at once.
 * - E3 a refused command changes nothing: several decisions in one message stand or fall together.
 * - J3 nothing is appended to an ended task.
 */
import type {
  DecisionScope,
  DecisionWord,
  GrantLimits,
  PendingReason,
  StopReason,
} from '../../shared/protocol/tool-approval.ts';
import { quotedPreview, TEXT_PART_ROOM } from '../../shared/protocol/preview-text.ts';
import type { Answer } from '../../shared/protocol/question.ts';
import type { Facts, Reason } from '../../shared/errors.ts';
import type { Decider, RequestedCall, TaskEvent, ToolOutcome, UserMessage } from './events.ts';
import { fold } from './fold.ts';
import { parkOrMove } from './pending.ts';
import { shownOf } from './shown.ts';
import { answerTo, wrongWord } from './answer.ts';
import {
  callOf,
  isAgentsOwn,
  isTerminal,
  PARKED_STATES,
  questionOf,
  waitingCalls,
  type Call,
  type Snapshot,
} from './snapshot.ts';

export interface Refusal {
  type: 'refuse';
  reason: Reason;
  message: string;
  facts?: Facts;
}

export type Ruling = { type: 'append'; events: TaskEvent[] } | Refusal;

/** One decision, with an edit already checked against the tool's schema and shown anew. */
export interface ResolvedDecision {
  callId: string;
  decision: DecisionWord;
  scope: DecisionScope;
  /** How long the trust lasts that the scope gives. */
  grant?: GrantLimits | undefined;
  reason: string | null;
  /** The code of the question that the person saw. Null for bare words, which answer a first question only. */
  shown: string | null;
  edited: Pick<RequestedCall, 'title' | 'input' | 'inputHash' | 'preview' | 'basis'> | null;
  /** With `answer`: what the person said, unchecked. */
  answer?: Answer;
}

/** A message for the model. Held until the next turn while one is under way (R04). */
export function receive(
  snapshot: Snapshot,
  message: UserMessage,
  { channel, wordsDecide }: { channel: string; wordsDecide: boolean },
): Ruling {
  if (isTerminal(snapshot)) return ended(snapshot);
  if (message.command !== undefined) return underWay(snapshot);
  const waiting = waitingCalls(snapshot);
  if (waiting.length > 0) {
    const ids = waiting.map((call) => call.callId).join(', ');
    return {
      type: 'refuse',
      reason: 'DECISION_NEEDED',
      message:
        waiting.length === 1
          ? `The task waits for a decision on call ${ids} (${waiting[0]?.title}). ${wantedOf(waiting[0], wordsDecide)}; to change course, deny with a reason.`
          : `The task waits for decisions on ${waiting.length} calls (${ids}). Send a decision that names the call ids; to change course, deny with a reason.`,
      facts: { pending: ids },
    };
  }
  if (wordsDecide && saysNo(snapshot, message))
    return {
      type: 'refuse',
      reason: 'DECISION_NEEDED',
      message:
        'The task asks whether it goes on, and any reply would let it. Cancel the task to end it; nothing was changed.',
    };
  const received: TaskEvent = { type: 'message.received', message, channel };
  // A reply is what a task without pending actions was parked for.
  const parked = PARKED_STATES.has(snapshot.status.state);
  return { type: 'append', events: parked ? [received, { type: 'task.working' }] : [received] };
}

function wantedOf(call: Call | undefined, wordsDecide: boolean): string {
  if (call && questionOf(call) !== undefined)
    return wordsDecide
      ? 'It is a question: answer it with one text, or send a decision'
      : 'It is a question: send a decision that names the call, "answer" with the answer';
  if (wordsDecide && call && isAskedAgain(call))
    return 'It is asked again: get the task, read the question, and answer with the words that it names';
  return wordsDecide
    ? 'Answer with exactly "approve" or "deny", or send a decision'
    : 'Send a decision that names the call';
}

/** Whether a person means no, where a budget's question takes every reply for yes. */
function saysNo({ status }: Snapshot, { parts: [part, more] }: UserMessage): boolean {
  return (
    status.state === 'input-required' &&
    status.budget === true &&
    part?.type === 'text' &&
    part.text === 'deny' &&
    more === undefined
  );
}

/**
 * The words a client without the extension may answer with, when one action is pending. A first question takes the bare
 * word. A call that is asked again takes the word and its code: a bare word may be meant for the earlier question (D2). Any
 * words answer a question, these two as well.
 */
export function bareDecision(snapshot: Snapshot, message: UserMessage): ResolvedDecision | undefined {
  const [part, more] = message.parts;
  const [call, another] = waitingCalls(snapshot);
  if (part?.type !== 'text' || more !== undefined || call === undefined || another !== undefined)
    return undefined;
  const bare = { callId: call.callId, scope: 'once', reason: null, shown: null, edited: null } as const;
  if (questionOf(call) !== undefined) return { ...bare, decision: 'answer', answer: part.text };
  const [, word, shown = null] = WORDS.exec(part.text) ?? [];
  if (word !== 'approve' && word !== 'deny') return undefined;
  // D5: the text that this client reads does not show all of it.
  if (word === 'approve' && quotedPreview(call.preview, TEXT_PART_ROOM).extent === 'cut') return undefined;
  return shown === null && isAskedAgain(call) ? undefined : { ...bare, decision: word, shown };
}

const WORDS = /^(approve|deny)(?: ([0-9a-f]+))?$/;

/** Whether the call waits for another reason than its first question. */
function isAskedAgain({ state }: Call): boolean {
  return state.type === 'waiting' && state.reason !== 'approval' && state.reason !== 'question';
}

/** Decides calls. All decisions of one message stand or fall together. */
export function decide(
  snapshot: Snapshot,
  decisions: readonly ResolvedDecision[],
  by: Decider,
  at: number,
): Ruling {
  let after = snapshot;
  const events: TaskEvent[] = [];
  for (const decision of decisions) {
    const refusal = objection(snapshot, decision) ?? repeatedIn(decisions, decision);
    if (refusal) return refusal;
    const call = callOf(snapshot, decision.callId);
    if (call === undefined) continue;
    const read = decision.decision === 'answer' ? answerTo(call, decision.answer) : undefined;
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
    after = fold(after, { seq: after.seq + 1, at, event });
  }
  return { type: 'append', events: [...events, parkOrMove(after)] };
}

/** Ends the task, whatever it is doing (A4). Tool executions under way are recorded as stopped by it (A1). */
export function cancel(snapshot: Snapshot, reason: string, by: Decider): Ruling {
  if (isTerminal(snapshot)) return ended(snapshot);
  const stopped = stoppedCalls(snapshot, {
    reason: 'task-cancel',
    message: `Stopped because the task was canceled: ${reason}`,
  });
  return { type: 'append', events: [...stopped, { type: 'task.canceled', reason, by }] };
}

/** Ends a task that has been at work for longer than it may (A1). */
export function timeOut(snapshot: Snapshot, message: string): Ruling {
  if (isTerminal(snapshot)) return ended(snapshot);
  const stopped = stoppedCalls(snapshot, { reason: 'timeout', message });
  return { type: 'append', events: [...stopped, { type: 'task.failed', message }] };
}

/** What is recorded of the tool executions under way when their task ends before them. */
function stoppedCalls({ calls }: Snapshot, stop: { reason: StopReason; message: string }): TaskEvent[] {
  return Object.values(calls).flatMap(({ callId, tool, title, state }): TaskEvent[] => {
    if (state.type !== 'running') return [];
    const outcome: ToolOutcome = { type: 'stopped', ...stop, confirmed: false, text: '' };
    return [{ type: 'tool.finished', callId, tool, title, toolId: state.toolId, outcome }];
  });
}

/** The answer to a command on a task that has ended. */
export function ended(snapshot: Snapshot): Refusal {
  return {
    type: 'refuse',
    reason: 'TASK_ENDED',
    message: `Task ${snapshot.taskId} has ended (${snapshot.status.state}); nothing was changed. Send the message with the session id alone to start the session's next task.`,
    facts: { state: snapshot.status.state },
  };
}

/** A command begins a task of its own, and a session has one at a time. */
function underWay({ taskId, sessionId, status }: Snapshot): Refusal {
  return {
    type: 'refuse',
    reason: 'SESSION_BUSY',
    message: `Session ${sessionId} has task ${taskId} under way (${status.state}), and a command begins a task of its own; nothing was changed. Send it without the session, or when that task has ended.`,
    facts: { taskId, state: status.state },
  };
}

function repeatedIn(decisions: readonly ResolvedDecision[], decision: ResolvedDecision): Refusal | undefined {
  if (decisions.filter((other) => other.callId === decision.callId).length < 2) return undefined;
  return invalid(`Call ${decision.callId} is decided twice in one message; send one decision for each call.`);
}

/** Why a decision cannot stand, if so. */
function objection(snapshot: Snapshot, decision: ResolvedDecision): Refusal | undefined {
  const call = callOf(snapshot, decision.callId);
  if (call === undefined) return unknownCall(snapshot, decision.callId);
  if (call.decided) return alreadyDecided(call, call.decided);
  if (isTerminal(snapshot)) return ended(snapshot);
  if (call.state.type === 'settled' && call.state.result.type === 'withdrawn')
    return {
      type: 'refuse',
      reason: 'ALREADY_DECIDED',
      message: `Question ${call.callId} (${call.title}) waits no longer: the tool that asked it has ended. Nothing was changed.`,
      facts: { callId: call.callId },
    };
  if (call.state.type !== 'waiting')
    return {
      type: 'refuse',
      reason: 'ALREADY_DECIDED',
      message: `Call ${call.callId} (${call.title}) needs no decision: policy let it run. Nothing was changed.`,
      facts: { callId: call.callId },
    };
  if (decision.shown === null ? isAskedAgain(call) : decision.shown !== shownOf(call, call.state.reason))
    return otherQuestion(call, call.state.reason);
  const mismatch = wrongWord(call, call.state.reason, decision);
  if (mismatch !== undefined) return invalid(mismatch);
  if (decision.decision === 'deny' && decision.scope !== 'once')
    return invalid('A denial reaches one call only; use scope "once", or leave it out.');
  if (decision.scope === 'server' && call.source.type === 'built-in')
    return invalid(
      `${call.tool} is built in and belongs to no server; trust the tool, or always, or approve this call only.`,
    );
  if (decision.decision === 'edit' && isAgentsOwn(call))
    return invalid(
      `Call ${call.callId} is the agent's own to carry out, and it takes no other input; approve it, or deny it with what you want instead as the reason.`,
    );
  if (decision.decision === 'edit' && call.state.reason === 'outcome-unknown')
    return invalid(
      `The outcome of call ${call.callId} is unknown; approve runs it again as it was, deny skips it.`,
    );
  if ((decision.decision === 'edit') !== (decision.edited !== null))
    return invalid('An edit needs the new input, and only an edit takes one.');
  return undefined;
}

/** The refusal of a decision that was made on another question. It leaves the new code out: the question carries it. */
export function otherQuestion({ callId, title }: Call, reason: PendingReason): Refusal {
  return {
    type: 'refuse',
    reason: 'INPUT_CHANGED',
    message: `Call ${callId} (${title}) is not what was shown.${ASKED_AGAIN[reason]} Nothing was decided. Show the pending action as it is now, and decide with its code.`,
    facts: { callId, reason },
  };
}

const ASKED_AGAIN: Readonly<Record<PendingReason, string>> = {
  approval: '',
  'outcome-unknown': ' It started before, and its outcome was lost: an approval would run it again.',
  'content-changed': ' What it would change has changed since.',
  question: '',
};

function alreadyDecided(call: Call, decided: NonNullable<Call['decided']>): Refusal {
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

function unknownCall(snapshot: Snapshot, callId: string): Refusal {
  const pending = waitingCalls(snapshot).map((call) => call.callId);
  return {
    type: 'refuse',
    reason: 'UNKNOWN_CALL',
    message: `Task ${snapshot.taskId} has no call ${callId}. ${pending.length > 0 ? `Pending: ${pending.join(', ')}.` : 'No call waits for a decision.'}`,
    facts: { callId, pending: pending.join(', ') },
  };
}

function invalid(message: string): Refusal {
  return { type: 'refuse', reason: 'INVALID_DECISION', message };
}
