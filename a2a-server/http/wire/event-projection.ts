/**
 * Converts a journal entry to an A2A stream event. An entry gives at most one event, so its `seq` is the SSE id. The
 * conversion needs no other entry, so a stream can start at any entry.
 *
 * The text of a turn is one artifact. `turn.started` creates the empty artifact, because `append` needs an earlier
 * artifact (A2A 1.0 TaskArtifactUpdateEvent). Each delta appends to the artifact. `turn.abandoned` removes its text.
 *
 * With the approval extension, the event at the end of a turn has the cost of the turn. The event of a summary has the
 * cost of the summary.
 *
 * For clients without the approval extension, tool output is also an artifact. The piece with `offset` 0 creates it,
 * and later pieces append to it.
 */
import type { Artifact, Message, StreamResponse } from '@a2a-js/sdk';
import type { EventCost } from '../../../shared/protocol/cost-report.ts';
import { THINKING_EXTENSION, TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { TASK_STATE_CODES } from '../../../shared/protocol/task-state-codes.ts';
import type { ToolCallEvent, PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { byText, decidedByText } from '../../../shared/text/decided-by-text.ts';
import type { Decider, JournalEntry, TaskEvent, ToolOutcome } from '../../task/events.ts';
import { SUMMARY_NOTICE } from '../../task/shortened-context.ts';
import { TODO_REMINDER_NOTE } from '../../task/todo-reminder.ts';
import { eventCost } from '../../task/costs/list-request-costs.ts';
import { EXPIRY } from '../../task/expiry.ts';
import { isHiddenEvent } from '../../task/generation.ts';
import { withShownCodes } from '../../task/shown-code-of-call.ts';
import type { StateName } from '../../task/snapshot.ts';
import { instructionsNote } from '../../task/instructions.ts';
import { pendingActionsText } from './pending-text.ts';
import { actionForReader, budgetQuestionForReader } from './reader-decisions.ts';
import {
  dataPart,
  agentArtifact,
  toA2aMessage,
  wireMetadata,
  toolOutputArtifact,
  textPart,
  todosArtifact,
  turnArtifact,
} from './build-messages-and-artifacts.ts';
import type { WireOptions } from './build-messages-and-artifacts.ts';

export const RESPONSE_ARTIFACT_NAME = 'response';

/** Converts a journal entry. Returns undefined if clients do not need the entry. */
export function toStreamResponse(entry: JournalEntry, options: WireOptions): StreamResponse | undefined {
  const change = changeOf(entry.event, options);
  if (change === undefined) return undefined;
  return 'artifact' in change ? artifactUpdate(entry, options, change) : statusUpdate(entry, options, change);
}

function changeOf(event: TaskEvent, options: WireOptions): ArtifactChange | Status | undefined {
  if (isHiddenEvent(event)) return undefined;
  switch (event.type) {
    case 'text.delta':
      return { artifact: turnArtifact(event.turn, event.text, ''), append: true };
    case 'reasoning.delta':
      if (options.thinking !== true) return undefined;
      return { state: 'working', text: event.text, thinking: { turn: event.turn } };
    case 'turn.started':
      return { artifact: turnArtifact(event.turn, '', RESPONSE_ARTIFACT_NAME) };
    case 'turn.abandoned':
      return { artifact: turnArtifact(event.turn, '', RESPONSE_ARTIFACT_NAME), lastChunk: true };
    case 'turn.finished':
      return {
        artifact: turnArtifact(event.turn, '', ''),
        append: true,
        lastChunk: true,
        cost: eventCost(event),
      };
    case 'artifact.updated':
      return { ...event, artifact: agentArtifact(options, event.artifact) };
    case 'instructions.read':
      return { state: 'working', text: instructionsNote(event.files) };
    case 'context.summarised':
      return { state: 'working', text: SUMMARY_NOTICE, cost: eventCost(event) };
    case 'todos.reminded':
      return { state: 'working', text: TODO_REMINDER_NOTE };
    case 'turn.noted':
    case 'model.unavailable':
    case 'process.orphaned':
    case 'workspace.unavailable':
      return { state: 'working', text: event.text };
    case 'task.queued':
      return { state: 'submitted', text: event.text };
    case 'task.created':
      return { state: 'submitted' };
    case 'task.working':
      return { state: 'working' };
    case 'input.required':
      return event.pending.length > 0
        ? { state: 'input-required', pending: withShownCodes(event.pending, {}) }
        : { state: 'input-required', text: questionText(options, event) };
    case 'auth.required':
      return { state: 'auth-required', text: event.question };
    case 'task.completed':
      return { state: 'completed', text: event.message };
    case 'task.failed':
      return { state: 'failed', text: event.message };
    case 'task.rejected':
      return { state: 'rejected', text: event.message };
    case 'task.canceled':
      return { state: 'canceled', text: canceledText(event.by, event.reason) };
    case 'todos.updated':
      return { artifact: todosArtifact(options, event.todos), lastChunk: true };
    case 'tool.output': {
      // Clients with the approval extension get live output as activity. `kept` marks a complete result that was too
      // long for the model. Such a result is an artifact for all clients.
      const live = event.kept !== true && (options.approval || event.offset === undefined);
      if (live) return toolCallStatus(event);
      const append = event.offset !== undefined && event.offset > 0;
      return { artifact: toolOutputArtifact(options, event), append };
    }
    case 'tool.requested':
    case 'tool.asked':
    case 'tool.withdrew':
    case 'tool.outdated':
    case 'tool.decided':
    case 'tool.started':
    case 'tool.finished':
    case 'tool.interrupted':
      return toolCallStatus(event);
  }
}

function toolCallStatus(event: ToolEvent): Status {
  const activity = toolCallEventOf(event);
  return { state: 'working', activity, text: toolCallEventText(activity) };
}

type InputRequired = Extract<TaskEvent, { type: 'input.required' }>;
type ToolEvent = Extract<TaskEvent, { type: `tool.${string}` }>;

function toolCallEventOf(event: ToolEvent): ToolCallEvent {
  const { callId, tool, title } = 'call' in event ? event.call : event;
  const call = { callId, tool, title };
  switch (event.type) {
    case 'tool.requested': {
      const { verdict } = event;
      return verdict.type === 'refuse'
        ? { type: 'tool.finished', ...call, toolId: null, outcome: 'error', summary: verdict.message }
        : {
            type: 'tool.requested',
            ...call,
            asks: verdict.type !== 'allow',
            ...(verdict.type === 'question' && { question: true }),
          };
    }
    case 'tool.asked':
      return { type: 'tool.requested', ...call, asks: true, question: true };
    case 'tool.withdrew': {
      const summary = 'the question was withdrawn';
      return { type: 'tool.finished', ...call, toolId: null, outcome: 'withdrawn', summary };
    }
    case 'tool.outdated':
      return { type: 'tool.requested', ...call, asks: true };
    case 'tool.decided':
      return {
        type: 'tool.decided',
        ...call,
        decision: event.decision,
        by: event.by.principal,
        channel: event.by.channel,
        ...(event.reason !== null && event.reason !== '' && { reason: event.reason }),
        inputHash: event.inputHash,
      };
    case 'tool.started':
      return { type: 'tool.started', ...call, toolId: event.toolId };
    case 'tool.output':
      return {
        type: 'tool.output',
        ...call,
        toolId: event.toolId,
        text: event.text,
        ...(event.progress && { progress: event.progress }),
      };
    case 'tool.finished':
      return {
        type: 'tool.finished',
        ...call,
        toolId: event.toolId,
        outcome: event.outcome.type,
        summary: outcomeSummary(event.outcome),
        ...(event.outcome.type === 'stopped' && { stopReason: event.outcome.reason }),
      };
    case 'tool.interrupted': {
      const summary = event.rerun
        ? 'interrupted; it has no side effects and runs again'
        : 'interrupted, outcome unknown';
      return { type: 'tool.finished', ...call, toolId: event.toolId, outcome: 'unknown', summary };
    }
  }
}

export function outcomeSummary(outcome: ToolOutcome): string {
  return outcome.type === 'ok' ? outcome.summary : outcome.message;
}

function toolCallEventText(activity: ToolCallEvent): string {
  switch (activity.type) {
    case 'tool.requested':
      if (activity.question) return `${activity.title}: waits for an answer`;
      return activity.asks ? `${activity.title}: needs approval` : `${activity.title}: about to run`;
    case 'tool.decided':
      return `${activity.title}: ${decidedByText(activity)}`;
    case 'tool.started':
      return `${activity.title}: running`;
    case 'tool.output':
      return activity.text;
    case 'tool.finished':
      return `${activity.title}: ${activity.summary}`;
  }
}

export function canceledText(by: Decider, reason: string): string {
  const { principal, channel } = by;
  // The task has expired. No person has cancelled it, so the text names the server and no channel.
  if (channel === EXPIRY.channel && principal === EXPIRY.principal)
    return `Cancelled by the server: ${reason}`;
  return `Cancelled ${byText({ by: principal, channel })}: ${reason}`;
}

/** Builds the status message with this text. */
export function statusMessage(options: WireOptions, seq: number, text: string): Message {
  return toA2aMessage(options, {
    role: 'agent',
    messageId: statusMessageId(options, seq),
    parts: [textPart(text)],
  });
}

/**
 * Builds the status message of a task that waits. The text describes the pending actions. With the approval extension,
 * the message also has them as data.
 */
export function pendingActionsMessage(options: WireOptions, seq: number, actions: readonly PendingAction[]) {
  const pending = actions.map((action) => actionForReader(action, options.reader));
  return toA2aMessage(options, {
    role: 'agent',
    messageId: statusMessageId(options, seq),
    parts: [
      textPart(pendingActionsText(pending)),
      ...(options.approval ? [dataPart({ extension: TOOL_APPROVAL_EXTENSION, pending })] : []),
    ],
  });
}

/** Returns the question that a waiting task asks in plain text. */
export function questionText(
  { reader }: WireOptions,
  { question, budget, dayCost }: Pick<InputRequired, 'question' | 'budget' | 'dayCost'>,
): string | undefined {
  const asksForBudget = budget === true || dayCost !== undefined;
  return asksForBudget && question !== undefined ? budgetQuestionForReader(question, reader) : question;
}

/** Returns the id of a status message. It depends only on the task and the entry, so all readers get the same id. */
function statusMessageId(options: WireOptions, seq: number): string {
  return `${options.taskId}-${seq}`;
}

interface Status {
  state: StateName;
  text?: string | undefined;
  pending?: readonly PendingAction[];
  activity?: ToolCallEvent;
  /**
   * Present if the text is the model's reasoning. The metadata then contains the turn, and shows that the text is not
   * the answer.
   */
  thinking?: { turn: number };
  cost?: EventCost | undefined;
}

function statusUpdate(
  entry: JournalEntry,
  options: WireOptions,
  { state, text, pending, activity, thinking, cost }: Status,
): StreamResponse {
  // Clients with the approval extension read `activity`, so they need no text.
  const words = activity !== undefined && options.approval ? undefined : text;
  const said = pending
    ? pendingActionsMessage(options, entry.seq, pending)
    : words === undefined
      ? undefined
      : statusMessage(options, entry.seq, words);
  const metadata = wireMetadata(options, entry.seq, activity ? { activity } : cost && { cost });
  return {
    payload: {
      $case: 'statusUpdate',
      value: {
        taskId: options.taskId,
        contextId: options.sessionId,
        status: {
          state: TASK_STATE_CODES[state],
          message: said,
          timestamp: new Date(entry.at).toISOString(),
        },
        metadata: thinking ? { ...metadata, [THINKING_EXTENSION]: thinking } : metadata,
      },
    },
  };
}

interface ArtifactChange {
  artifact: Artifact;
  append?: boolean;
  lastChunk?: boolean;
  cost?: EventCost | undefined;
}

function artifactUpdate(
  entry: JournalEntry,
  options: WireOptions,
  { artifact, append = false, lastChunk = false, cost }: ArtifactChange,
): StreamResponse {
  return {
    payload: {
      $case: 'artifactUpdate',
      value: {
        taskId: options.taskId,
        contextId: options.sessionId,
        artifact,
        append,
        lastChunk,
        metadata: wireMetadata(options, entry.seq, cost && { cost }),
      },
    },
  };
}
