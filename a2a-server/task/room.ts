/**
 * Whether the conversation fits into its model's window, and what makes it fit. Pure.
 *
 * - What the task is, and the last turns, are shown as they are. What lies between is summarised, oldest first; where that
 *   is not enough, or cannot be done, long answers and results are clipped.
 * - A turn is shown or left out with the results of its calls, whole.
 * - It comes to an end: a summary reaches further than the one before, a clip is shorter or reaches further.
 */
import { isPlace, passages, type ConversationStep, type Passage } from './conversation.ts';
import type { TaskEvent, TurnPlace } from './events.ts';
import { fold } from './fold.ts';
import type { Snapshot } from './snapshot.ts';
import { leftOut } from './left-out.ts';

/** Bytes of UTF-8 for a token, at the least: English has some four, code and other scripts about three. */
export const BYTES_PER_TOKEN = 3;
/** What a message is wrapped in, in tokens. */
const WRAPPING = 10;
/** The part of a window that a conversation may fill: the answer needs room too, and is counted in by most providers. */
const FILLED = 2 / 3;
/** The part of that which is for the last turns, when what comes before them is summarised; and for the summary. */
const KEPT = 3 / 8;
const SUMMARY = 1 / 6;
const LONGEST_SUMMARY = 4_000;
/** In characters of an answer or a result: as long as it may be, and never so short that nothing can be told from it. */
const CLIPS = [64_000, 32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 500];

/** What there is to fill. */
export interface Room {
  /** Of the model, in tokens; undefined: as much as there is. */
  window: number | undefined;
  /** What is sent beside the conversation, instructions and tools, in tokens. */
  beside: number;
  model: string;
}

/** What is to be done before the model can be asked. */
export type Squeeze =
  | {
      type: 'summarise';
      upTo: TurnPlace;
      /** What the summary is of: all that comes before its end, and with it what the task is. */
      covered: readonly Passage[];
      /** How long the summary may be, in tokens. */
      tokens: number;
    }
  | { type: 'clip'; event: TaskEvent };

/** How many tokens a text has, at most; of what is no language it may have more. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** How many tokens the prompt will have: by the provider's last count where there is one, and what has come since. */
export function tokensNeeded(earlier: readonly Snapshot[], current: Snapshot, room: Room): number {
  const shown = passages(earlier, current);
  const all = room.beside + total(shown);
  const { counted } = current.context;
  if (counted === null || counted.model !== room.model) return all;
  const since = shown.findIndex(({ place }) =>
    isPlace(place, { taskId: current.taskId, turn: counted.turn }),
  );
  if (since === -1) return all;
  // Some providers count only what they had not read before: by half, none is wrong in the other direction.
  return Math.max(counted.inputTokens + total(shown.slice(since)), all / 2);
}

/** @returns undefined when it fits, or nothing more can be done about it. */
export function squeezeFor(earlier: readonly Snapshot[], current: Snapshot, room: Room): Squeeze | undefined {
  const most = mostTokens(earlier, current, room);
  if (tokensNeeded(earlier, current, room) <= most) return undefined;
  const free = Math.max(0, most - room.beside);
  return summaryFor(passages(earlier, current), free) ?? clipFor(earlier, current, { room, most });
}

/** In the place of a summary that could not be had. */
export function squeezeWithout(
  { upTo, covered, tokens }: Extract<Squeeze, { type: 'summarise' }>,
  earlier: readonly Snapshot[],
  { current, room }: { current: Snapshot; room: Room },
): TaskEvent {
  const most = mostTokens(earlier, current, room);
  const clip = clipFor(earlier, current, { room, most });
  if (clip && neededAfter(earlier, current, { room, event: clip.event }) <= most) return clip.event;
  return {
    type: 'context.summarised',
    upTo,
    summary: leftOut(covered, tokens * BYTES_PER_TOKEN),
    model: null,
    usage: { inputTokens: 0, outputTokens: 0 },
  };
}

/** Whether the provider has refused the length, and nothing has been done about it yet. */
export function isRefused({ context }: Snapshot): boolean {
  return context.refused === 'yes';
}

/** Where the provider has refused the length, the estimate was wrong: half of it then. */
function mostTokens(earlier: readonly Snapshot[], current: Snapshot, room: Room): number {
  const filled = room.window === undefined ? Infinity : Math.floor(room.window * FILLED);
  // Many tools leave little: rather less room for the answer than a summary with every turn.
  const most = Math.max(filled, room.beside + filled / 2);
  return isRefused(current) ? Math.min(most, tokensNeeded(earlier, current, room) / 2) : most;
}

/** @param free what of the window is for the conversation, in tokens. */
function summaryFor(shown: readonly Passage[], free: number): Squeeze | undefined {
  const end = endOfOld(shown, free * KEPT);
  const upTo = shown[end]?.place;
  if (upTo === undefined) return undefined;
  const covered = shown.slice(0, end + 1);
  const tokens = Math.min(LONGEST_SUMMARY, Math.floor(free * SUMMARY));
  // What is hardly longer than its summary is not worth one.
  const gone = total(covered.filter(({ kind }) => kind !== 'task'));
  return gone > tokens * 2 ? { type: 'summarise', upTo, covered, tokens } : undefined;
}

/** The last of the turns that are not kept as they are: the first from the end for which there is no room, or the last but one. */
function endOfOld(shown: readonly Passage[], kept: number): number {
  const last = shown.findLastIndex(({ kind }) => kind === 'turn');
  let tokens = total(shown.slice(Math.max(last, 0)));
  let end = -1;
  for (let index = last - 1; index >= 0; index -= 1) {
    const passage = shown[index];
    if (passage === undefined) break;
    tokens += total([passage]);
    if (passage.kind !== 'turn') continue;
    if (tokens > kept) return index;
    end = Math.max(end, index);
  }
  return end;
}

/** The longest clip with which it fits; the shortest, where with none, as long as it changes anything. */
function clipFor(
  earlier: readonly Snapshot[],
  current: Snapshot,
  { room, most }: { room: Room; most: number },
): Extract<Squeeze, { type: 'clip' }> | undefined {
  const upTo = passages(earlier, current).findLast(({ kind }) => kind === 'turn')?.place;
  if (upTo === undefined) return undefined;
  const clips = CLIPS.map((chars): TaskEvent => ({ type: 'context.clipped', upTo, chars }));
  const needed = (event: TaskEvent) => neededAfter(earlier, current, { room, event });
  const event = clips.find((each) => needed(each) <= most) ?? clips.at(-1);
  if (event === undefined) return undefined;
  const before = room.beside + total(passages(earlier, current));
  return needed(event) < before ? { type: 'clip', event } : undefined;
}

function neededAfter(
  earlier: readonly Snapshot[],
  current: Snapshot,
  { room, event }: { room: Room; event: TaskEvent },
): number {
  const after = fold(current, { seq: current.seq + 1, at: current.updatedAt, event });
  return tokensNeeded(earlier, after, room);
}

function total(shown: readonly Passage[]): number {
  return shown.flatMap(({ steps }) => steps).reduce((sum, step) => sum + stepTokens(step), 0);
}

function stepTokens(step: ConversationStep): number {
  switch (step.role) {
    case 'user':
      return WRAPPING + tokensOf(step.text);
    case 'assistant':
      return step.calls.reduce(
        (sum, { tool, input }) => sum + WRAPPING + tokensOf(tool) + tokensOf(JSON.stringify(input)),
        WRAPPING + tokensOf(step.text),
      );
    case 'tool':
      return step.results.reduce((sum, { text }) => sum + WRAPPING + tokensOf(text), WRAPPING);
  }
}
