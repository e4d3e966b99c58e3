/** Builds the conversation for the model from the session's earlier tasks and the current one. Pure. */
import { commandLine } from '../../shared/protocol/agent-command.ts';
import { stuckRemarks } from './stuck-detection.ts';
import { todoReminders } from './todo-reminder.ts';
import { resultForModel } from './call-result.ts';
import { filesForModel, type ConversationFile } from './conversation-files.ts';
import { fileLine } from './stored-file.ts';
import { messageFiles } from './task-files.ts';
import { isReplayable, replayedParts, type ConversationReader, type ReplayedPart } from './turn-replay.ts';
import type { MessagePart, TurnPlace, UserMessage } from './events.ts';
import { callsOf, type Call, type Snapshot, type Turn } from './snapshot.ts';

export interface ModelCall {
  modelCallId: string;
  tool: string;
  input: Record<string, unknown>;
}

/** One step of the conversation in a form that fits every model. */
export type ConversationStep =
  | { role: 'user'; text: string; files?: readonly ConversationFile[] }
  /** `parts`: the same turn with its model's own data. Absent for another model, and after a change before the turn. */
  | { role: 'assistant'; text: string; calls: ModelCall[]; parts?: ReplayedPart[] }
  | { role: 'tool'; results: ConversationResult[] };

/** The result of one call. */
export interface ConversationResult {
  modelCallId: string;
  tool: string;
  text: string;
  isError: boolean;
  files?: readonly ConversationFile[];
}

/**
 * A part of the conversation that the context window keeps or omits completely: a message, or a turn with the results
 * of its calls. The first message of the current task (`task`) always stays.
 */
export interface Passage {
  kind: 'task' | 'message' | 'turn' | 'note' | 'summary';
  /** The turn, if the passage is a turn. */
  place?: TurnPlace;
  steps: ConversationStep[];
}

/**
 * @param earlier snapshots of the session's ended tasks, oldest first
 * @param reader the model that gets the conversation. Without it, no turn has `parts`, and all files stay.
 * @returns steps with a result for each call, as providers require
 */
export function conversation(
  earlier: readonly Snapshot[],
  current: Snapshot,
  reader?: ConversationReader,
): ConversationStep[] {
  return conversationPassages(earlier, current, reader).flatMap(({ steps }) => steps);
}

/** Returns the conversation as passages. A summary replaces its passages. */
export function conversationPassages(
  earlier: readonly Snapshot[],
  current: Snapshot,
  reader?: ConversationReader,
): Passage[] {
  const passages = summarisedPassages(earlier, current, reader);
  if (reader === undefined) return passages;
  // All steps in one call, because the files have one size limit.
  const steps = filesForModel(
    passages.flatMap((passage) => passage.steps),
    reader,
  );
  let next = 0;
  return passages.map((passage) => {
    const from = next;
    next += passage.steps.length;
    return { ...passage, steps: steps.slice(from, next) };
  });
}

function summarisedPassages(
  earlier: readonly Snapshot[],
  current: Snapshot,
  reader: ConversationReader | undefined,
): Passage[] {
  const tasks = [...earlier, current];
  const isForeign = ({ model }: Turn): boolean => reader !== undefined && model !== reader.model;
  const all = tasks.flatMap((snapshot, index) => {
    const clip = clipIn(tasks.slice(index), snapshot.taskId);
    const later = tasks.slice(index + 1);
    const replays = (turn: Turn): boolean =>
      reader !== undefined && isReplayable(turn, { snapshot, later, reader });
    return passagesOf(snapshot, { clip, replays, isForeign }, snapshot === current ? 'task' : 'message');
  });
  const summary = tasks.findLast(({ context }) => context.summary !== null)?.context.summary;
  if (!summary) return all;
  const end = all.findIndex(({ place }) => isSameTurn(place, summary.upTo));
  if (end === -1) return all;
  const task = all.slice(0, end).filter(({ kind }) => kind === 'task');
  return [...task, { kind: 'summary', steps: [summarised(summary.text)] }, ...all.slice(end + 1)];
}

export function isSameTurn(place: TurnPlace | undefined, wanted: TurnPlace): boolean {
  return place?.taskId === wanted.taskId && place.turn === wanted.turn;
}

/**
 * Returns the maximum length of each result and each answer of a turn, in characters. The newest clip for the turn
 * applies.
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

/** The maximum length of a message in a task that failed because the conversation was too long, in characters. */
const LONG_MESSAGE = 2_000;

/** How a task's turns appear in the conversation. */
interface TurnRules {
  /** The maximum length of each result and each answer of a turn, in characters. */
  clip: (turn: number) => number;
  /** True if the turn goes back to its model with the model's own data. */
  replays: (turn: Turn) => boolean;
  /** True if another model wrote the turn. */
  isForeign: (turn: Turn) => boolean;
}

function passagesOf(
  snapshot: Snapshot,
  { clip, replays, isForeign }: TurnRules,
  first: 'task' | 'message',
): Passage[] {
  const { taskId, exchanges, queued } = snapshot;
  const stuck = stuckRemarks(snapshot);
  const reminders = todoReminders(snapshot);
  // A task that failed because it was too long must not stop the session's next task with the same message.
  const tooLong = snapshot.status.state === 'failed' && snapshot.status.tooLong === true;
  const shortened = (step: ConversationStep): ConversationStep =>
    tooLong && step.role === 'user' ? { ...step, text: omitMiddle(step.text, LONG_MESSAGE) } : step;
  const passages = exchanges.map((exchange): Passage => {
    if (exchange.type === 'message')
      return { kind: 'message', steps: [shortened(userStep(exchange.message, taskId))] };
    const { turn } = exchange.turn;
    const steps = turnSteps(snapshot, exchange.turn, {
      clip: clip(turn),
      remark: stuck.get(turn) ?? reminders.get(turn),
      replays: replays(exchange.turn),
      foreign: isForeign(exchange.turn),
    });
    return { kind: 'turn', place: { taskId, turn }, steps };
  });
  const waiting = queued.map((message): Passage => ({
    kind: 'message',
    steps: [shortened(userStep(message, taskId))],
  }));
  const [begins, ...rest] = [...passages, ...waiting];
  const opening: Passage[] =
    begins === undefined ? [] : [begins.kind === 'message' ? { ...begins, kind: first } : begins];
  return [...opening, ...rest, { kind: 'note', steps: calledOff(snapshot) }];
}

/** Returns a summary as a user message. It must come before the model's next answer. */
function summarised(text: string): ConversationStep {
  return {
    role: 'user',
    text: `(This summary replaces the conversation up to here.)\n\n${text}`,
  };
}

/** Returns a note about a cancelled task. Without it, the model would continue that task in the session's next task. */
function calledOff({ status }: Snapshot): ConversationStep[] {
  if (status.state === 'canceled')
    return [noted(`The task was cancelled. Do not do the rest of it. Reason: ${status.reason}`)];
  if (status.state === 'rejected') return [noted(`The task was rejected before it began: ${status.message}`)];
  return [];
}

function noted(text: string): ConversationStep {
  return { role: 'assistant', text: `(${text})`, calls: [] };
}

function userStep(message: UserMessage, taskId: string): ConversationStep {
  const files = messageFiles(message).map((file) => ({ ...file, taskId }));
  return { role: 'user', text: messageText(message), ...(files.length > 0 && { files }) };
}

/** Returns the text of a message for an agent. A line stands for each file. */
export function messageText({ parts, command }: UserMessage): string {
  if (command) return `(Carried out: ${commandLine(command)})`;
  return parts.map(partText).join('\n\n');
}

function partText(part: MessagePart): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'data':
      return JSON.stringify(part.data, null, 2);
    case 'stored-file':
      return fileLine(part.file);
  }
}

/** @param remark a note for the model. The last result contains it. Without results, it is a user message. */
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
  const calls = callsOf(snapshot, turn);
  // Some providers refuse the call ids of others, e.g. ids with a dot.
  const idOf = (call: Call): string => (foreign ? call.callId : call.modelCallId);
  const assistant: ConversationStep = {
    role: 'assistant',
    // Providers refuse an answer with only white space.
    text: turn.text.trim() === '' ? '' : omitMiddle(turn.text, clip),
    calls: calls.map((call) => ({
      modelCallId: idOf(call),
      tool: call.tool,
      input: call.originalInput ?? call.input,
    })),
    ...(replays && { parts: replayedParts(turn, calls) }),
  };
  if (calls.length === 0)
    return [
      ...(assistant.text === '' ? [] : [assistant]),
      ...(remark === undefined ? [] : [{ role: 'user' as const, text: remark }]),
    ];
  const results = calls.map((call, index): ConversationResult => {
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

/** Replaces the files of a turn whose text was clipped. */
const FILES_LEFT_OUT =
  '[The files of this result are left out to save space. Call the tool again to see them.]';

/** Shortens a text to `chars` characters: two thirds from the start, the omitted count, one third from the end. */
export function omitMiddle(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const head = Math.ceil((chars * 2) / 3);
  const tail = chars - head;
  const left = text.length - chars;
  return `${text.slice(0, head)}\n[… ${left} characters left out …]\n${tail === 0 ? '' : text.slice(-tail)}`;
}
