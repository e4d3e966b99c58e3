/** Builds the conversation for the model from the session's tasks. Pure. */
import { agentCommandText } from '../../../shared/protocol/agent-command.ts';
import { omitMiddle } from './omit-middle.ts';
import { stuckRemarks } from '../stuck-detection.ts';
import { todoReminders } from '../todo-reminder.ts';
import { resultForModel } from '../result-for-model.ts';
import { withAcceptedFiles, type ConversationFile } from './select-files-for-model.ts';
import { filePlaceholderLine } from '../stored-file.ts';
import { messageFiles } from '../task-files.ts';
import { isContentFiltered, contentFilteredItems, redactedStep } from './content-filtered-items.ts';
import {
  isTurnReplayable,
  turnPartsForProvider,
  type ReceivingModel,
  type ReplayedPart,
} from '../replay-provider-data.ts';
import type { MessagePart, TurnRef, UserMessage } from '../events.ts';
import { callsOfTurn, type Call, type Snapshot, type Turn } from '../snapshot.ts';

interface ModelToolCall {
  modelCallId: string;
  tool: string;
  input: Record<string, unknown>;
}

/** One step of the conversation, in a form for every model. */
export type ConversationStep =
  | { role: 'user'; text: string; files?: readonly ConversationFile[] }
  /**
   * `parts` has the same turn with the model's own data. It is absent for another model. It is also absent if the
   * conversation before the turn has changed.
   */
  | { role: 'assistant'; text: string; calls: ModelToolCall[]; parts?: ReplayedPart[] }
  | { role: 'tool'; results: ConversationToolResult[] };

export interface ConversationToolResult {
  modelCallId: string;
  tool: string;
  text: string;
  isError: boolean;
  files?: readonly ConversationFile[];
}

/**
 * A part of the conversation that a summary replaces as a whole or not at all: a message, a turn with the results of
 * its tool calls, a note, or an earlier summary. The first message of the current task (`task`) always stays.
 */
export interface ConversationSegment {
  kind: 'task' | 'message' | 'turn' | 'note' | 'summary';
  /** The turn of the segment. Present only if the segment is a turn. */
  place?: TurnRef;
  steps: ConversationStep[];
}

/**
 * Returns the conversation with a result for each tool call, because providers require all results.
 * @param earlier snapshots of the session's ended tasks, oldest first
 * @param reader the model that gets the conversation. If absent, no turn has `parts`, and all files stay.
 */
export function buildConversation(
  earlier: readonly Snapshot[],
  current: Snapshot,
  reader?: ReceivingModel,
): ConversationStep[] {
  return conversationSegments(earlier, current, reader).flatMap(({ steps }) => steps);
}

/** Returns the conversation as a list of segments. A summary replaces the segments that it covers. */
export function conversationSegments(
  earlier: readonly Snapshot[],
  current: Snapshot,
  reader?: ReceivingModel,
): ConversationSegment[] {
  const segments = summarisedSegments(earlier, current, reader);
  if (reader === undefined) return segments;
  // All steps are passed together, because one size limit applies to all files.
  const steps = withAcceptedFiles(
    segments.flatMap((segment) => segment.steps),
    reader,
  );
  let next = 0;
  return segments.map((segment) => {
    const from = next;
    next += segment.steps.length;
    return { ...segment, steps: steps.slice(from, next) };
  });
}

function summarisedSegments(
  earlier: readonly Snapshot[],
  current: Snapshot,
  reader: ReceivingModel | undefined,
): ConversationSegment[] {
  const tasks = [...earlier, current];
  const isForeign = ({ model }: Turn): boolean => reader !== undefined && model !== reader.model;
  const byTask = tasks.map((snapshot, index) => {
    const clip = clipIn(tasks.slice(index), snapshot.taskId);
    const later = tasks.slice(index + 1);
    const replays = (turn: Turn): boolean =>
      reader !== undefined && isTurnReplayable(turn, { snapshot, later, reader });
    const rules = { clip, replays, isForeign, reader: reader?.model };
    return segmentsOf(snapshot, rules, snapshot === current ? 'task' : 'message');
  });
  const all = byTask.flat();
  const summarised = tasks.findLastIndex(({ context }) => context.summary !== null);
  const summary = tasks[summarised]?.context.summary;
  if (!summary) return all;
  const end = all.findIndex(({ place }) => isSameTurn(place, summary.upTo));
  if (end === -1) return all;
  // A summary leaves out the first message of its own task. So the conversation keeps that message beside the summary.
  // While the task is current, the message is complete. In later tasks, it is shortened.
  const first = byTask.slice(0, summarised).flat().length;
  const kept = all
    .slice(0, end)
    .flatMap((segment, index): ConversationSegment[] =>
      segment.kind === 'task'
        ? [segment]
        : index === first && segment.kind === 'message'
          ? [{ ...segment, steps: segment.steps.map(shortMessage) }]
          : [],
    );
  return [...kept, { kind: 'summary', steps: [summaryStep(summary.text)] }, ...all.slice(end + 1)];
}

export function isSameTurn(place: TurnRef | undefined, wanted: TurnRef): boolean {
  return place?.taskId === wanted.taskId && place.turn === wanted.turn;
}

/**
 * Returns the maximum length of each result and each answer of a turn, in characters. The newest clip (a length limit)
 * that covers the turn applies.
 * @param from the snapshots of the turn's task and all later tasks
 */
function clipIn(from: readonly Snapshot[], taskId: string): (turn: number) => number {
  const clips = from.flatMap(({ context }) => context.clip ?? []).toReversed();
  const order = from.map((snapshot) => snapshot.taskId);
  return (turn) => {
    const clip = clips.find(({ upTo }) =>
      upTo.taskId === taskId ? turn <= upTo.turn : order.includes(upTo.taskId),
    );
    return clip?.chars ?? Infinity;
  };
}

/** The maximum length of a shortened message, in characters. */
const MAX_OLD_MESSAGE_CHARS = 2_000;

/** Shortens a message, and leaves out its files. */
function shortMessage(step: ConversationStep): ConversationStep {
  if (step.role !== 'user') return step;
  const text = omitMiddle(step.text, MAX_OLD_MESSAGE_CHARS);
  return { role: 'user', text: step.files === undefined ? text : `${text}\n${MESSAGE_FILES_LEFT_OUT}` };
}

const MESSAGE_FILES_LEFT_OUT =
  '[The files of this message are left out to save space. To show them again, the person attaches them again.]';

interface TurnRules {
  /** Returns the maximum length of each result and each answer of a turn, in characters. */
  clip: (turn: number) => number;
  /** True if the request contains the model's own data of the turn. */
  replays: (turn: Turn) => boolean;
  isForeign: (turn: Turn) => boolean;
  /** The id of the model that gets the conversation. */
  reader: string | undefined;
}

function segmentsOf(
  snapshot: Snapshot,
  { clip, replays, isForeign, reader }: TurnRules,
  first: 'task' | 'message',
): ConversationSegment[] {
  const { taskId, exchanges, queued } = snapshot;
  const stuck = stuckRemarks(snapshot);
  const reminders = todoReminders(snapshot);
  // A message that was too long for this task must not stop the session's next task.
  const tooLong = snapshot.status.state === 'failed' && snapshot.status.tooLong === true;
  const shortened = (step: ConversationStep): ConversationStep => (tooLong ? shortMessage(step) : step);
  const withheld = reader === undefined ? undefined : contentFilteredItems(exchanges, reader);
  const segments = exchanges.map((exchange): ConversationSegment => {
    const sent = (steps: ConversationStep[]): ConversationStep[] =>
      withheld?.has(exchange) === true ? steps.map(redactedStep) : steps;
    if (exchange.type === 'message')
      return { kind: 'message', steps: sent([shortened(userStep(exchange.message, taskId))]) };
    const { turn } = exchange.turn;
    const place = { taskId, turn };
    if (reader !== undefined && isContentFiltered(exchange.turn)) return { kind: 'turn', place, steps: [] };
    const steps = turnSteps(snapshot, exchange.turn, {
      clip: clip(turn),
      remark: stuck.get(turn) ?? exchange.turn.reminder ?? reminders.get(turn),
      replays: replays(exchange.turn),
      foreign: isForeign(exchange.turn),
    });
    return { kind: 'turn', place, steps: sent(steps) };
  });
  const waiting = queued.map((message): ConversationSegment => ({
    kind: 'message',
    steps: [shortened(userStep(message, taskId))],
  }));
  const [begins, ...rest] = [...segments, ...waiting];
  const opening: ConversationSegment[] =
    begins === undefined ? [] : [begins.kind === 'message' ? { ...begins, kind: first } : begins];
  return [...opening, ...rest, { kind: 'note', steps: calledOff(snapshot) }];
}

function summaryStep(text: string): ConversationStep {
  return {
    role: 'user',
    text: `(This summary replaces the conversation up to here.)\n\n${text}`,
  };
}

/**
 * Returns a note about a cancelled or rejected task. Without the note, the next task would continue the cancelled task.
 */
function calledOff({ status }: Snapshot): ConversationStep[] {
  if (status.state === 'canceled')
    return [noteStep(`The task was cancelled. Do not do the rest of it. Reason: ${status.reason}`)];
  if (status.state === 'rejected')
    return [noteStep(`The task was rejected before it began: ${status.message}`)];
  return [];
}

function noteStep(text: string): ConversationStep {
  return { role: 'assistant', text: `(${text})`, calls: [] };
}

function userStep(message: UserMessage, taskId: string): ConversationStep {
  const files = messageFiles(message).map((file) => ({ ...file, taskId }));
  return { role: 'user', text: userMessageText(message), ...(files.length > 0 && { files }) };
}

/** Returns the text of a message for an agent. One line replaces each file. */
export function userMessageText({ parts, command }: UserMessage): string {
  if (command) return `(Carried out: ${agentCommandText(command)})`;
  return parts.map(partText).join('\n\n');
}

function partText(part: MessagePart): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'data':
      return JSON.stringify(part.data, null, 2);
    case 'stored-file':
      return filePlaceholderLine(part.file);
  }
}

/**
 * Converts a turn to steps of the conversation.
 * @param remark a note for the model. The last result contains the note. Without results, the note is a user message.
 */
function turnSteps(
  snapshot: Snapshot,
  turn: Turn,
  {
    clip,
    remark,
    replays,
    foreign,
  }: { clip: number; remark: string | undefined; replays: boolean; foreign: boolean },
): ConversationStep[] {
  const calls = callsOfTurn(snapshot, turn);
  // A call of another model gets the server's `callId` as its id. Some providers refuse the call ids of other
  // providers, e.g. ids with a dot.
  const idOf = (call: Call): string => (foreign ? call.callId : call.modelCallId);
  const assistant: ConversationStep = {
    role: 'assistant',
    // Providers refuse a text that has only white space.
    text: turn.text.trim() === '' ? '' : omitMiddle(turn.text, clip),
    calls: calls.map((call) => ({
      modelCallId: idOf(call),
      tool: call.tool,
      input: call.originalInput ?? call.input,
    })),
    ...(replays && { parts: turnPartsForProvider(turn, calls) }),
  };
  if (calls.length === 0)
    return [
      ...(assistant.text === '' ? [] : [assistant]),
      ...(remark === undefined ? [] : [{ role: 'user' as const, text: remark }]),
    ];
  const results = calls.map((call, index): ConversationToolResult => {
    const { text, isError, files = [] } = resultForModel(call);
    const whole = clip === Infinity;
    const kept = omitMiddle(text, clip);
    const shown = whole || files.length === 0 ? kept : `${kept}\n${FILES_LEFT_OUT}`;
    const last = index === calls.length - 1;
    return {
      ...(whole &&
        files.length > 0 && { files: files.map((file) => ({ ...file, taskId: snapshot.taskId })) }),
      modelCallId: idOf(call),
      tool: call.tool,
      text: last && remark !== undefined ? `${shown}\n\n${remark}` : shown,
      isError,
    };
  });
  return [assistant, { role: 'tool', results }];
}

/** The text that replaces the files of a shortened result. */
const FILES_LEFT_OUT =
  '[The files of this result are left out to save space. Call the tool again to see them.]';
