/**
 * Fits the conversation into the model's context window. Pure.
 *
 * - The task's first message and the last turns stay complete. A summary replaces the older turns.
 * - If the summary fails or is not enough, long answers and results are clipped.
 * - If the clips are not enough, a summary also replaces the last turn and all earlier messages except the first.
 * - A segment is a message, or a turn with the results of its tool calls. A summary replaces whole segments only.
 * - The reduction terminates. Each summary covers more than the previous summary. Each clip (a length limit for answers
 *   and results) is shorter or covers more turns.
 */
import {
  isSameTurn,
  conversationSegments,
  type ConversationStep,
  type ConversationSegment,
} from './conversation.ts';
import { fileTokens, type ConversationFile } from './select-files-for-model.ts';
import type { TaskEvent, TurnRef } from '../events.ts';
import { foldNextEvents } from '../fold.ts';
import type { Snapshot } from '../snapshot.ts';
import type { ReplayedPart } from '../replay-provider-data.ts';
import { summaryFacts } from './summary-facts.ts';
import { fallbackSummary } from './summary-transcript.ts';

/**
 * The number of UTF-8 bytes per token, as a low estimate. English has about four, code and other scripts about three.
 */
export const BYTES_PER_TOKEN = 3;
const TOKENS_PER_MESSAGE = 10;
/** The share of the window for the prompt. The rest is for the answer, because most providers count the answer too. */
const PROMPT_SHARE = 2 / 3;
/** The share of the conversation's tokens for the last turns, which stay complete. */
const LAST_TURNS_SHARE = 3 / 8;
/** The share of the conversation's tokens for the summary. */
export const SUMMARY_SHARE = 1 / 6;
const MAX_SUMMARY_TOKENS = 4_000;
/** The share of the conversation's tokens for the facts from the journal. */
const FACTS_SHARE = 1 / 12;
const MAX_FACTS_TOKENS = 8_000;
/** The maximum lengths of an answer or a result, in characters. Even the shortest text still gives some information. */
const CLIP_CHARS = [64_000, 32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 500];

export interface ContextWindow {
  /** The context window in tokens. Undefined means unlimited. */
  window: number | undefined;
  /** The size of the system prompt and the tools, in tokens. */
  beside: number;
  model: string;
  basis: string;
  /** The media types of the files that the model accepts. The default is none. */
  inputModes?: readonly string[] | undefined;
}

export type ContextReduction =
  | {
      type: 'summarise';
      upTo: TurnRef;
      /** The segments to summarise, and the task's first message, which the summary does not replace. */
      covered: readonly ConversationSegment[];
      tokens: number;
      /** The maximum length of the facts from the journal, in tokens. */
      facts: number;
    }
  | { type: 'clip'; event: TaskEvent };

/** Returns an estimate of a text's tokens. It is high for language, but may be too low for other text, e.g. base64. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Returns a high estimate of the tokens of the system prompt and the tools. */
export function tokensBesideConversation(instructions: string, tools: readonly unknown[]): number {
  return estimateTokens(instructions) + estimateTokens(JSON.stringify(tools));
}

/**
 * Returns the number of tokens that the conversation may use. The rest of the window is for the system prompt, the
 * tools and the answer.
 */
export function maxConversationTokens(room: ContextWindow): number {
  return Math.max(0, promptTokens(room) - room.beside);
}

/**
 * Estimates the size of the prompt in tokens. If the provider has counted the tokens of an earlier prompt, only the
 * conversation after that prompt is estimated.
 */
export function estimatePromptTokens(
  earlier: readonly Snapshot[],
  current: Snapshot,
  room: ContextWindow,
): number {
  const shown = conversationSegments(earlier, current, room);
  const all = room.beside + totalTokens(shown);
  const { counted } = current.context;
  if (counted === null || counted.model !== room.model) return all;
  const since = shown.findIndex(({ place }) =>
    isSameTurn(place, { taskId: current.taskId, turn: counted.turn }),
  );
  if (since === -1) return all;
  // Some providers count only uncached tokens. The result is therefore at least half of `all`, the estimate for the
  // whole prompt.
  return Math.max(counted.inputTokens + totalTokens(shown.slice(since)), all / 2);
}

/**
 * Returns the next action that shortens the conversation. Returns undefined if the conversation fits or cannot be
 * shorter.
 */
export function nextContextReduction(
  earlier: readonly Snapshot[],
  current: Snapshot,
  room: ContextWindow,
): ContextReduction | undefined {
  const most = mostTokens(earlier, current, room);
  if (estimatePromptTokens(earlier, current, room) <= most) return undefined;
  const free = Math.max(0, most - room.beside);
  const shown = conversationSegments(earlier, current);
  return (
    summaryFor(shown, endOfOld(shown, free * LAST_TURNS_SHARE), free) ??
    clipFor(earlier, current, { room, most }) ??
    summaryFor(
      shown,
      shown.findLastIndex(({ kind }) => kind === 'turn'),
      free,
    )
  );
}

/**
 * Returns the event that replaces a failed summary. If a clip is enough, this is the event of the clip. Otherwise it is
 * a summary that lists the tool calls of the old turns.
 */
export function eventAfterFailedSummary(
  { upTo, covered, tokens, facts }: Extract<ContextReduction, { type: 'summarise' }>,
  earlier: readonly Snapshot[],
  { current, room }: { current: Snapshot; room: ContextWindow },
): TaskEvent {
  const most = mostTokens(earlier, current, room);
  const clip = clipFor(earlier, current, { room, most });
  if (clip && neededAfter(earlier, current, { room, event: clip.event }) <= most) return clip.event;
  return {
    type: 'context.summarised',
    upTo,
    summary: summaryWithFacts(fallbackSummary(covered, tokens * BYTES_PER_TOKEN), [...earlier, current], {
      upTo,
      facts,
    }),
    model: null,
    usage: { inputTokens: 0, outputTokens: 0 },
  };
}

/**
 * Appends facts from the journal to a summary, so that the summary cannot lose them.
 * @param upTo the last turn that the summary replaces
 * @param facts the maximum length of the facts, in tokens
 */
export function summaryWithFacts(
  summary: string,
  tasks: readonly Snapshot[],
  { upTo, facts }: { upTo: TurnRef; facts: number },
): string {
  const text = summaryFacts(tasks, upTo, facts * BYTES_PER_TOKEN);
  return text === '' ? summary : `${summary}\n\nFrom the record of the same turns:\n${text}`;
}

/** True if the provider refused the conversation as too long, and the conversation has not changed since. */
export function isPromptRefused({ context }: Snapshot): boolean {
  return context.refused === 'yes';
}

/**
 * Returns the limit of the prompt in tokens. If the provider has refused the prompt as too long, the estimate was too
 * low. Then the limit is half of the estimate.
 */
function mostTokens(earlier: readonly Snapshot[], current: Snapshot, room: ContextWindow): number {
  const most = promptTokens(room);
  return isPromptRefused(current) ? Math.min(most, estimatePromptTokens(earlier, current, room) / 2) : most;
}

function promptTokens({ window, beside }: ContextWindow): number {
  const filled = window === undefined ? Infinity : Math.floor(window * PROMPT_SHARE);
  // The conversation gets at least half of the prompt's share, even if many tools leave less space. The answer then
  // has less space, but this is better than a new summary in every turn.
  return Math.max(filled, beside + filled / 2);
}

/**
 * Returns the summary to make. Returns undefined if there is no turn to replace, or if the summary would save too
 * little.
 * @param end the index of the last segment that the summary replaces
 * @param free the tokens of the window that the conversation may use
 */
function summaryFor(
  shown: readonly ConversationSegment[],
  end: number,
  free: number,
): ContextReduction | undefined {
  const upTo = shown[end]?.place;
  if (upTo === undefined) return undefined;
  const covered = shown.slice(0, end + 1);
  const tokens = Math.min(MAX_SUMMARY_TOKENS, Math.floor(free * SUMMARY_SHARE));
  const facts = Math.min(MAX_FACTS_TOKENS, Math.floor(free * FACTS_SHARE));
  // A summary must be worth its cost. With its facts, it may have at most three quarters of the segments' length.
  const gone = totalTokens(covered.filter(({ kind }) => kind !== 'task'));
  return gone > ((tokens + facts) * 4) / 3 ? { type: 'summarise', upTo, covered, tokens, facts } : undefined;
}

/**
 * Returns the index of the last turn to summarise. The newest turn is never the result. The search goes back from the
 * second-last turn. The result is the first turn that, together with everything after it, exceeds `kept` tokens. If no
 * turn does, the result is the second-last turn. With fewer than two turns, the result is -1.
 */
function endOfOld(shown: readonly ConversationSegment[], kept: number): number {
  const last = shown.findLastIndex(({ kind }) => kind === 'turn');
  let tokens = totalTokens(shown.slice(Math.max(last, 0)));
  let end = -1;
  for (let index = last - 1; index >= 0; index -= 1) {
    const segment = shown[index];
    if (segment === undefined) break;
    tokens += totalTokens([segment]);
    if (segment.kind !== 'turn') continue;
    if (tokens > kept) return index;
    end = Math.max(end, index);
  }
  return end;
}

/**
 * Returns the clip with the highest length limit that makes the conversation fit. If no clip is enough, returns the
 * clip with the lowest limit, or undefined if that clip shortens nothing.
 */
function clipFor(
  earlier: readonly Snapshot[],
  current: Snapshot,
  { room, most }: { room: ContextWindow; most: number },
): Extract<ContextReduction, { type: 'clip' }> | undefined {
  const upTo = conversationSegments(earlier, current).findLast(({ kind }) => kind === 'turn')?.place;
  if (upTo === undefined) return undefined;
  const clips = CLIP_CHARS.map((chars): TaskEvent => ({ type: 'context.clipped', upTo, chars }));
  const needed = (event: TaskEvent) => neededAfter(earlier, current, { room, event });
  const event = clips.find((each) => needed(each) <= most) ?? clips.at(-1);
  if (event === undefined) return undefined;
  const before = room.beside + totalTokens(conversationSegments(earlier, current, room));
  return needed(event) < before ? { type: 'clip', event } : undefined;
}

function neededAfter(
  earlier: readonly Snapshot[],
  current: Snapshot,
  { room, event }: { room: ContextWindow; event: TaskEvent },
): number {
  return estimatePromptTokens(earlier, foldNextEvents(current, [event]), room);
}

function totalTokens(shown: readonly ConversationSegment[]): number {
  return shown.flatMap(({ steps }) => steps).reduce((sum, step) => sum + stepTokens(step), 0);
}

function stepTokens(step: ConversationStep): number {
  switch (step.role) {
    case 'user':
      return TOKENS_PER_MESSAGE + estimateTokens(step.text) + tokensOfFiles(step.files);
    case 'assistant':
      if (step.parts !== undefined)
        return step.parts.reduce((sum, part) => sum + partTokens(part), TOKENS_PER_MESSAGE);
      return step.calls.reduce(
        (sum, { tool, input }) =>
          sum + TOKENS_PER_MESSAGE + estimateTokens(tool) + estimateTokens(JSON.stringify(input)),
        TOKENS_PER_MESSAGE + estimateTokens(step.text),
      );
    case 'tool':
      return step.results.reduce(
        (sum, { text, files }) => sum + TOKENS_PER_MESSAGE + estimateTokens(text) + tokensOfFiles(files),
        TOKENS_PER_MESSAGE,
      );
  }
}

function tokensOfFiles(files: readonly ConversationFile[] = []): number {
  return files.reduce((sum, file) => sum + fileTokens(file), 0);
}

function partTokens(part: ReplayedPart): number {
  const state = part.state === undefined ? 0 : estimateTokens(JSON.stringify(part.state));
  const content =
    part.type === 'call'
      ? estimateTokens(part.tool) + estimateTokens(JSON.stringify(part.input))
      : estimateTokens(part.text);
  return TOKENS_PER_MESSAGE + content + state;
}
