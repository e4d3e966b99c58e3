/**
 * Reads the events of gemini-cli's a2a-server. `metadata.coderAgent.kind` says what an event is about
 * (`CoderAgentEvent` in its `types.ts`). Only the state of a `state-change` is reliable. In other events the state may
 * be wrong: `working` while a call waits, or `input-required` while an approved call runs. Pure.
 */
import { type Message, type Part, Role, TaskState } from '@a2a-js/sdk';
import type { Artifact, StreamResponse, Task, TaskStatus, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import { z } from 'zod';
import { TERMINAL_TASK_STATE_CODES } from '../../shared/protocol/task-state-codes.ts';
import { type DialectFieldReaders, readA2aEvent, TASK_STATE_NAME_BY_CODE } from './a2a-event.ts';
import {
  toolCallEventOf,
  isAwaitingDecision,
  isGeminiCallUnderway,
  keepTextEnd,
  pendingActionOf,
  proposalOf,
  geminiToolCallIn,
} from './gemini-tool-call.ts';
import type { GeminiToolCall } from './gemini-tool-call.ts';
import type { Observation, ObservedEvent, PlainTextQuestion } from './observation.ts';
import { dataOfPart, messageText, partsAsText } from './parts.ts';
import type { TaskAndSessionId } from './turn-observation.ts';
import { PLAIN_FIELD_READERS } from './plain-a2a.ts';
import { questionOf } from './question-in-status.ts';
import { questionWithCode } from './plain-text-question.ts';
import { joinTexts } from '../../shared/text/join-texts.ts';

const kindMetadata = z.object({ coderAgent: z.object({ kind: z.string() }) });
const errorMetadata = z.object({ error: z.string() });
const thought = z.object({ subject: z.string().default(''), description: z.string().default('') });
const TOOL_OUTPUT = /^tool-(.+)-output$/s;

const UNREPORTED_TURN_END =
  'This agent does not report how its last turn ended: it may have finished, or been cut off. Check its work, then answer with what it should do next.';

/** The functions that read an event without `coderAgent.kind` as plain A2A. */
const reading: DialectFieldReaders = { ...PLAIN_FIELD_READERS, seq: () => null };

export function readGeminiEvent(event: StreamResponse): ObservedEvent {
  const { payload } = event;
  switch (payload?.$case) {
    case 'statusUpdate': {
      const observations = statusUpdate(payload.value);
      return observations === null ? readA2aEvent(event, reading) : { seq: null, observations };
    }
    case 'artifactUpdate': {
      const observations = toolOutput(payload.value);
      return observations === null ? readA2aEvent(event, reading) : { seq: null, observations };
    }
    case 'task':
      return { seq: null, observations: observationsOfTask(payload.value) };
    case 'message':
    case undefined:
      return readA2aEvent(event, reading);
  }
}

/** Reads a status update. Returns null if it has no `coderAgent.kind`. The caller then reads it as plain A2A. */
function statusUpdate({
  taskId,
  contextId: sessionId,
  status,
  metadata,
}: TaskStatusUpdateEvent): readonly Observation[] | null {
  const kind = kindMetadata.safeParse(metadata).data?.coderAgent.kind;
  if (kind === undefined || status === undefined) return null;
  const ids = { taskId, sessionId };
  const ended = hasEnded(status);
  const text = messageText(status.message);
  const moving: Observation = { type: 'moving', ...ids, text: null };
  switch (kind) {
    case 'state-change':
      return stateChange(ids, status, metadata);
    case 'text-content':
      return text === '' ? [moving] : [moving, { type: 'said', ...ids, text }];
    case 'thought':
      return [{ ...moving, text: thoughtOf(status.message) }];
    case 'citation':
      return [
        moving,
        { type: 'output', ...ids, output: { id: 'citations', name: 'citations', text }, append: true },
      ];
    case 'tool-call-update':
    case 'tool-call-confirmation': {
      const calls = callsIn(status.message);
      const about = calls.flatMap((call) => ofCall(ids, call));
      // J3: nothing changes after the end of a task. This agent still reports changes of its calls after a cancel.
      // These reports do not change the state.
      if (ended) return about;
      return [calls.length === 0 && text !== '' ? { ...moving, text } : moving, ...about];
    }
    default:
      // An event of an unknown kind contributes only its text.
      return ended ? stateChange(ids, status, metadata) : [{ ...moving, text: text === '' ? null : text }];
  }
}

function stateChange(ids: TaskAndSessionId, status: TaskStatus, metadata: unknown): readonly Observation[] {
  const text = messageText(status.message);
  const said: PlainTextQuestion | null =
    text === '' ? null : questionWithCode({ id: idOf(status.message, ids.taskId), text: withNextStep(text) });
  if (hasEnded(status) || status.state === TaskState.TASK_STATE_AUTH_REQUIRED) {
    const question = questionOf(status, ids.taskId);
    return [
      {
        type: 'status',
        ...ids,
        state: TASK_STATE_NAME_BY_CODE[status.state] ?? 'unknown',
        text,
        pending: [],
        question,
      },
    ];
  }
  if (status.state === TaskState.TASK_STATE_INPUT_REQUIRED)
    return [{ type: 'turn-ended', ...ids, question: said, told: true }];
  const moving: Observation = { type: 'moving', ...ids, text: '' };
  if (said === null || !errorMetadata.safeParse(metadata).success) return [{ ...moving, text }];
  return [moving, { type: 'troubled', ...ids, question: said }];
}

/** Adds to the agent's message what the person can do about the unfinished turn. */
function withNextStep(text: string): string {
  return `${text}\nIts turn ended there, and its open calls will not run. Answer with what it should do next, e.g. "go on".`;
}

function ofCall(ids: TaskAndSessionId, call: GeminiToolCall): readonly Observation[] {
  const activity = toolCallEventOf(call);
  return [
    ...(isAwaitingDecision(call)
      ? [{ type: 'asked' as const, ...ids, action: pendingActionOf(call), proposal: proposalOf(call) }]
      : []),
    ...(activity === null ? [] : [{ type: 'activity' as const, activity }]),
  ];
}

function toolOutput(update: {
  taskId: string;
  contextId: string;
  artifact: Artifact | undefined;
}): readonly Observation[] | null {
  const callId = TOOL_OUTPUT.exec(update.artifact?.artifactId ?? '')?.[1];
  if (callId === undefined) return null;
  const text = keepTextEnd(partsAsText(update.artifact?.parts ?? []));
  return [{ type: 'tool-output', taskId: update.taskId, sessionId: update.contextId, callId, text }];
}

/**
 * Reads the current turn from a whole task. The turn is the part of the history after the person's last text message.
 */
function observationsOfTask(task: Task): readonly Observation[] {
  const { id: taskId, contextId: sessionId, status, history } = task;
  const ids = { taskId, sessionId };
  if (status === undefined) return [{ type: 'moving', ...ids, text: null }];
  const turn = history
    .slice(history.findLastIndex(isWords) + 1)
    .filter(({ role }) => role === Role.ROLE_AGENT);
  const calls = [...new Map(turn.flatMap(callsIn).map((call) => [call.request.callId, call])).values()];
  // After an aborted turn, the status has a message. The bridge makes a question for the person from this message.
  // After a completed turn, the status has no message.
  const last = status.message;
  const said = turn.map((each) => (each.messageId === last?.messageId ? '' : wordsOf(each))).join('');
  const ended = hasEnded(status);
  const text = last === undefined ? '' : wordsOf(last);
  const account: Observation = { type: 'account', ...ids, text: said };
  const known = [account, ...calls.flatMap((call) => ofCall(ids, call))];
  if (ended || status.state === TaskState.TASK_STATE_AUTH_REQUIRED)
    return [...known, ...stateChange(ids, status, task.metadata)];
  // The state may be `input-required` while an approved call runs. If the status has text, the turn has really ended.
  const resting =
    status.state === TaskState.TASK_STATE_INPUT_REQUIRED &&
    (text !== '' || !calls.some(isGeminiCallUnderway));
  if (!resting) return [{ type: 'moving', ...ids, text: null }, ...known];
  const told = turn.length > 0;
  const question =
    told && text === ''
      ? null
      : questionWithCode({
          id: idOf(last, `${taskId}-recalled`),
          text: told ? withNextStep(text) : UNREPORTED_TURN_END,
        });
  return [...known, { type: 'turn-ended', ...ids, question, told }];
}

function isWords({ role, parts }: Message): boolean {
  return role === Role.ROLE_USER && parts.some((part) => part.content?.$case === 'text');
}

/** Returns the text of a message without the model's reasoning and the calls, which are data parts. */
function wordsOf({ parts }: Message): string {
  return parts.map((part) => (part.content?.$case === 'text' ? part.content.value : '')).join('');
}

function callsIn(message: Message | undefined): readonly GeminiToolCall[] {
  return (message?.parts ?? []).flatMap((part: Part) => geminiToolCallIn(dataOfPart(part)) ?? []);
}

function thoughtOf(message: Message | undefined): string {
  const parsed = thought.safeParse((message?.parts ?? []).map(dataOfPart).find((data) => data !== undefined));
  if (!parsed.success) return messageText(message);
  return joinTexts(': ', [parsed.data.subject, parsed.data.description]);
}

function hasEnded({ state }: TaskStatus): boolean {
  return TERMINAL_TASK_STATE_CODES.has(state);
}

function idOf(message: Message | undefined, otherwise: string): string {
  return message === undefined || message.messageId === '' ? `question-${otherwise}` : message.messageId;
}
