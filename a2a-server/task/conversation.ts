/** Builds the conversation for the model from the session's earlier tasks and the current one. Pure. */
import { commandLine } from '../../shared/protocol/agent-command.ts';
import { stuckRemarks } from './stuck-detection.ts';
import { resultForModel } from './call-result.ts';
import { isReplayable, replayedParts, type ConversationReader, type ReplayedPart } from './turn-replay.ts';
import type { TurnPlace, UserMessage } from './events.ts';
import { callsOf, type Snapshot, type Turn } from './snapshot.ts';

export interface ModelCall {
  modelCallId: string;
  tool: string;
  input: Record<string, unknown>;
}

/** One step of the conversation in a form that fits every model. */
export type ConversationStep =
  | { role: 'user'; text: string }
  /** `parts`: the same turn with its model's own data. Absent for another model, and after a change before the turn. */
  | { role: 'assistant'; text: string; calls: ModelCall[]; parts?: ReplayedPart[] }
  | { role: 'tool'; results: { modelCallId: string; tool: string; text: string; isError: boolean }[] };

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
 * @param reader the model that gets the conversation. Without it, no turn has `parts`.
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
  const tasks = [...earlier, current];
  const all = tasks.flatMap((snapshot, index) => {
    const clip = clipIn(tasks.slice(index), snapshot.taskId);
    const later = tasks.slice(index + 1);
    const replays = (turn: Turn): boolean =>
      reader !== undefined && isReplayable(turn, { snapshot, later, reader });
    return passagesOf(snapshot, { clip, replays }, snapshot === current ? 'task' : 'message');
  });
  const summary = tasks.findLast(({ context }) => context.summary !== null)?.context.summary;
  if (!summary) return all;
  const end = all.findIndex(({ place }) => isSamePlace(place, summary.upTo));
  if (end === -1) return all;
  const task = all.slice(0, end).filter(({ kind }) => kind === 'task');
  return [...task, { kind: 'summary', steps: [summarised(summary.text)] }, ...all.slice(end + 1)];
}

export function isSamePlace(place: TurnPlace | undefined, wanted: TurnPlace): boolean {
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

function passagesOf(
  snapshot: Snapshot,
  { clip, replays }: { clip: (turn: number) => number; replays: (turn: Turn) => boolean },
  first: 'task' | 'message',
): Passage[] {
  const { taskId, exchanges, queued } = snapshot;
  const remarked = stuckRemarks(snapshot);
  const passages = exchanges.map((exchange): Passage => {
    if (exchange.type === 'message') return { kind: 'message', steps: [userStep(exchange.message)] };
    const { turn } = exchange.turn;
    const steps = turnSteps(snapshot, exchange.turn, {
      clip: clip(turn),
      remark: remarked.get(turn),
      replays: replays(exchange.turn),
    });
    return { kind: 'turn', place: { taskId, turn }, steps };
  });
  const waiting = queued.map((message): Passage => ({ kind: 'message', steps: [userStep(message)] }));
  const [begins, ...rest] = [...passages, ...waiting];
  const opening: Passage[] =
    begins === undefined ? [] : [begins.kind === 'message' ? { ...begins, kind: first } : begins];
  return [...opening, ...rest, { kind: 'note', steps: calledOff(snapshot) }];
}

/** Returns a summary as a user message. It must come before the model's next answer. */
function summarised(text: string): ConversationStep {
  return {
    role: 'user',
    text: `(The conversation up to here is left out. This is a summary of what was said and done in it.)\n\n${text}`,
  };
}

/** Returns a note about a cancelled task. Without it, the model would continue that task in the session's next task. */
function calledOff({ status }: Snapshot): ConversationStep[] {
  if (status.state === 'canceled')
    return [noted(`The task was cancelled; what was left of it is not to be done. Reason: ${status.reason}`)];
  if (status.state === 'rejected') return [noted(`The task was rejected and not begun: ${status.message}`)];
  return [];
}

function noted(text: string): ConversationStep {
  return { role: 'assistant', text: `(${text})`, calls: [] };
}

function userStep(message: UserMessage): ConversationStep {
  return { role: 'user', text: messageText(message) };
}

/** Returns the text of a message for an agent. */
export function messageText({ parts, command }: UserMessage): string {
  if (command) return `(Carried out: ${commandLine(command)})`;
  return parts
    .map((part) => (part.type === 'text' ? part.text : JSON.stringify(part.data, null, 2)))
    .join('\n\n');
}

/** @param remark a note for the model. The last result contains it. Without results, it is a user message. */
function turnSteps(
  snapshot: Snapshot,
  turn: Turn,
  { clip, remark, replays }: { clip: number; remark: string | undefined; replays: boolean },
): ConversationStep[] {
  const calls = callsOf(snapshot, turn);
  const assistant: ConversationStep = {
    role: 'assistant',
    // Providers refuse an answer with only white space.
    text: turn.text.trim() === '' ? '' : keepEnds(turn.text, clip),
    calls: calls.map((call) => ({
      modelCallId: call.modelCallId,
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
  const results = calls.map((call, index) => {
    const { text, isError } = resultForModel(call);
    const shown = keepEnds(text, clip);
    const last = index === calls.length - 1;
    return {
      modelCallId: call.modelCallId,
      tool: call.tool,
      text: last && remark !== undefined ? `${shown}\n\n${remark}` : shown,
      isError,
    };
  });
  return [assistant, { role: 'tool', results }];
}

/** Shortens a text to `chars` characters: two thirds from the start, the omitted count, one third from the end. */
export function keepEnds(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const head = Math.ceil((chars * 2) / 3);
  const tail = chars - head;
  const left = text.length - chars;
  return `${text.slice(0, head)}\n[… ${left} characters left out …]\n${tail === 0 ? '' : text.slice(-tail)}`;
}
