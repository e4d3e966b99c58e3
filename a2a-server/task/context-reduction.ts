/**
 * Fits the conversation into the model's context window. Pure.
 *
 * - The task's first message and the last turns stay complete. A summary replaces the older turns between them. If the
 *   summary fails or is not enough, long answers and results are clipped.
 * - A turn and the results of its calls stay together.
 * - The process terminates: each summary covers more than the last summary. Each clip is shorter or covers more.
 */
import { isSameTurn, conversationPassages, type ConversationStep, type Passage } from './conversation.ts';
import { fileTokens, type ConversationFile } from './conversation-files.ts';
import type { TaskEvent, TurnPlace } from './events.ts';
import { foldNext } from './fold.ts';
import type { Snapshot } from './snapshot.ts';
import type { ReplayedPart } from './turn-replay.ts';
import { summaryFacts } from './summary-facts.ts';
import { omittedTurns } from './transcript.ts';

/** The minimum number of UTF-8 bytes per token. English has about four, code and other scripts about three. */
export const BYTES_PER_TOKEN = 3;
/** The overhead of one message, in tokens. */
const WRAPPING = 10;
/** The part of the window for the conversation. The rest is for the answer, because most providers also count it. */
const FILLED = 2 / 3;
/** The part of the conversation's tokens for the last turns, which keep their text. */
const KEPT = 3 / 8;
/** The part of the conversation's tokens for the summary. */
const SUMMARY = 1 / 6;
const LONGEST_SUMMARY = 4_000;
/** The limits of an answer or a result, in characters. Even the shortest text still has some information. */
const CLIPS = [64_000, 32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 500];

/** The context window of a model. */
export interface ContextWindow {
  /** The window in tokens; undefined means unlimited. */
  window: number | undefined;
  /** The size of the system prompt and the tools, in tokens. */
  beside: number;
  model: string;
  /** A hash of the system prompt, the tools and the endpoint. */
  basis: string;
  /** The media types of the files that the model takes. The default is none. */
  inputModes?: readonly string[] | undefined;
}

/** The next step that shortens the conversation. */
export type ContextReduction =
  | {
      type: 'summarise';
      upTo: TurnPlace;
      /** The passages to summarise, and the task's first message. */
      covered: readonly Passage[];
      /** The maximum length of the summary, in tokens. */
      tokens: number;
    }
  | { type: 'clip'; event: TaskEvent };

/** Returns a high estimate of a text's tokens. Text that is no language may have more tokens. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Estimates the size of the prompt in tokens: the provider's last count, if known, plus the later passages. */
export function tokensNeeded(earlier: readonly Snapshot[], current: Snapshot, room: ContextWindow): number {
  const shown = conversationPassages(earlier, current, room);
  const all = room.beside + total(shown);
  const { counted } = current.context;
  if (counted === null || counted.model !== room.model) return all;
  const since = shown.findIndex(({ place }) =>
    isSameTurn(place, { taskId: current.taskId, turn: counted.turn }),
  );
  if (since === -1) return all;
  // Some providers count only uncached tokens. So never use less than half of the estimate.
  return Math.max(counted.inputTokens + total(shown.slice(since)), all / 2);
}

/** Returns the next step to shorten the conversation; undefined if it fits or cannot be shorter. */
export function nextReduction(
  earlier: readonly Snapshot[],
  current: Snapshot,
  room: ContextWindow,
): ContextReduction | undefined {
  const most = mostTokens(earlier, current, room);
  if (tokensNeeded(earlier, current, room) <= most) return undefined;
  const free = Math.max(0, most - room.beside);
  return (
    summaryFor(conversationPassages(earlier, current), free) ?? clipFor(earlier, current, { room, most })
  );
}

/** Replaces a failed summary: by a clip if that is enough, otherwise by a list of the old turns' calls. */
export function reductionWithoutSummary(
  { upTo, covered, tokens }: Extract<ContextReduction, { type: 'summarise' }>,
  earlier: readonly Snapshot[],
  { current, room }: { current: Snapshot; room: ContextWindow },
): TaskEvent {
  const most = mostTokens(earlier, current, room);
  const clip = clipFor(earlier, current, { room, most });
  if (clip && neededAfter(earlier, current, { room, event: clip.event }) <= most) return clip.event;
  return {
    type: 'context.summarised',
    upTo,
    summary: summaryWithFacts(omittedTurns(covered, tokens * BYTES_PER_TOKEN), [...earlier, current], {
      upTo,
      tokens,
    }),
    model: null,
    usage: { inputTokens: 0, outputTokens: 0 },
  };
}

/** The summary with the journal's facts about the same turns. The facts may be half as long as the summary. */
export function summaryWithFacts(
  summary: string,
  tasks: readonly Snapshot[],
  { upTo, tokens }: { upTo: TurnPlace; tokens: number },
): string {
  const facts = summaryFacts(tasks, upTo, Math.floor((tokens * BYTES_PER_TOKEN) / 2));
  return facts === '' ? summary : `${summary}\n\nFrom the record of the same turns:\n${facts}`;
}

/** True if the provider refused the length and the conversation is still the same. */
export function isPromptRefused({ context }: Snapshot): boolean {
  return context.refused === 'yes';
}

/** Returns the limit in tokens. After a refusal the estimate was too low, so the limit is half of the estimate. */
function mostTokens(earlier: readonly Snapshot[], current: Snapshot, room: ContextWindow): number {
  const filled = room.window === undefined ? Infinity : Math.floor(room.window * FILLED);
  // Many tools leave little space. A shorter answer is better than a new summary in every turn.
  const most = Math.max(filled, room.beside + filled / 2);
  return isPromptRefused(current) ? Math.min(most, tokensNeeded(earlier, current, room) / 2) : most;
}

/** @param free the tokens of the window that the conversation may use */
function summaryFor(shown: readonly Passage[], free: number): ContextReduction | undefined {
  const end = endOfOld(shown, free * KEPT);
  const upTo = shown[end]?.place;
  if (upTo === undefined) return undefined;
  const covered = shown.slice(0, end + 1);
  const tokens = Math.min(LONGEST_SUMMARY, Math.floor(free * SUMMARY));
  // If the passages are not much longer than their summary, do not summarise them.
  const gone = total(covered.filter(({ kind }) => kind !== 'task'));
  return gone > tokens * 2 ? { type: 'summarise', upTo, covered, tokens } : undefined;
}

/** Returns the index of the last turn to summarise: the newest turn that does not fit, or the second-last turn. */
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

/** Returns the longest clip that fits. If no clip fits, returns the shortest clip, if it shortens the text. */
function clipFor(
  earlier: readonly Snapshot[],
  current: Snapshot,
  { room, most }: { room: ContextWindow; most: number },
): Extract<ContextReduction, { type: 'clip' }> | undefined {
  const upTo = conversationPassages(earlier, current).findLast(({ kind }) => kind === 'turn')?.place;
  if (upTo === undefined) return undefined;
  const clips = CLIPS.map((chars): TaskEvent => ({ type: 'context.clipped', upTo, chars }));
  const needed = (event: TaskEvent) => neededAfter(earlier, current, { room, event });
  const event = clips.find((each) => needed(each) <= most) ?? clips.at(-1);
  if (event === undefined) return undefined;
  const before = room.beside + total(conversationPassages(earlier, current, room));
  return needed(event) < before ? { type: 'clip', event } : undefined;
}

function neededAfter(
  earlier: readonly Snapshot[],
  current: Snapshot,
  { room, event }: { room: ContextWindow; event: TaskEvent },
): number {
  return tokensNeeded(earlier, foldNext(current, [event]), room);
}

function total(shown: readonly Passage[]): number {
  return shown.flatMap(({ steps }) => steps).reduce((sum, step) => sum + stepTokens(step), 0);
}

function stepTokens(step: ConversationStep): number {
  switch (step.role) {
    case 'user':
      return WRAPPING + tokensOf(step.text) + tokensOfFiles(step.files);
    case 'assistant':
      if (step.parts !== undefined) return step.parts.reduce((sum, part) => sum + partTokens(part), WRAPPING);
      return step.calls.reduce(
        (sum, { tool, input }) => sum + WRAPPING + tokensOf(tool) + tokensOf(JSON.stringify(input)),
        WRAPPING + tokensOf(step.text),
      );
    case 'tool':
      return step.results.reduce(
        (sum, { text, files }) => sum + WRAPPING + tokensOf(text) + tokensOfFiles(files),
        WRAPPING,
      );
  }
}

function tokensOfFiles(files: readonly ConversationFile[] = []): number {
  return files.reduce((sum, file) => sum + fileTokens(file), 0);
}

function partTokens(part: ReplayedPart): number {
  const state = part.state === undefined ? 0 : tokensOf(JSON.stringify(part.state));
  const content =
    part.type === 'call' ? tokensOf(part.tool) + tokensOf(JSON.stringify(part.input)) : tokensOf(part.text);
  return WRAPPING + content + state;
}
