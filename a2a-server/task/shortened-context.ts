/** Tracks the summaries and clips (length limits) that fit the conversation into the model's context window. Pure. */
import type { TaskEvent, TurnRef, TokenUsage } from './events.ts';
import type { Turn } from './snapshot.ts';

export interface ShortenedContext {
  summary: { upTo: TurnRef; text: string } | null;
  clip: { upTo: TurnRef; chars: number } | null;
  /**
   * Whether the provider refused the conversation as too long. `yes`: it has done so since the model's last answer.
   * `shortened`: after such a refusal, the server has shortened the conversation.
   */
  refused: 'no' | 'yes' | 'shortened';
  /**
   * The provider's count of input tokens for the last turn. Null if there is no count, or if the conversation before
   * that turn has changed.
   */
  counted: { turn: number; model: string; inputTokens: number } | null;
  /** The last turn before the conversation was last shortened. Null if the conversation was never shortened. */
  shortenedAt: number | null;
}

export const SUMMARY_NOTICE =
  'From here on, a summary replaces the older part of the conversation, so that the rest fits into the context window of the model.';

export const UNSHORTENED_CONTEXT: ShortenedContext = {
  summary: null,
  clip: null,
  refused: 'no',
  counted: null,
  shortenedAt: null,
};

type ContextEvent = Extract<TaskEvent, { type: `context.${string}` }>;

/** Returns the context after an event. @param turns the number of the task's last turn */
export function foldContextEvent(
  context: ShortenedContext,
  event: ContextEvent,
  turns: number,
): ShortenedContext {
  switch (event.type) {
    case 'context.summarised':
      return { ...withShorterContext(context, turns), summary: { upTo: event.upTo, text: event.summary } };
    case 'context.clipped':
      return { ...withShorterContext(context, turns), clip: { upTo: event.upTo, chars: event.chars } };
    case 'context.exceeded':
      return { ...context, refused: 'yes' };
  }
}

function withShorterContext(context: ShortenedContext, turns: number): ShortenedContext {
  const refused = context.refused === 'no' ? 'no' : 'shortened';
  return { ...context, refused, counted: null, shortenedAt: turns };
}

/**
 * Stores the provider's count of input tokens, which includes tokens that only the provider sees. Zero means that the
 * provider does not count.
 */
export function withInputTokenCount(
  context: ShortenedContext,
  turn: Turn | null,
  { inputTokens }: TokenUsage,
): ShortenedContext {
  const counted =
    turn === null || inputTokens === 0 ? null : { turn: turn.turn, model: turn.model, inputTokens };
  return { ...context, refused: 'no', counted };
}
