/** What of the conversation the model is shown in another form, so that it fits into its window. Pure. */
import type { TaskEvent, TurnPlace, Usage } from './events.ts';
import type { Turn } from './snapshot.ts';

export interface Context {
  summary: { upTo: TurnPlace; text: string } | null;
  clip: { upTo: TurnPlace; chars: number } | null;
  /** Whether the provider has refused its length since the last answer, and whether it has been made shorter for that. */
  refused: 'no' | 'yes' | 'shortened';
  /** What the provider counted of input for the last turn, while what comes before that turn is shown as it was then. */
  counted: { turn: number; model: string; inputTokens: number } | null;
}

/** What a person is told of a summary. */
export const SUMMARISED =
  'The older part of the conversation is summarised from here on, so that the rest fits into the window of the model.';

export const WHOLE_CONTEXT: Context = { summary: null, clip: null, refused: 'no', counted: null };

type ContextEvent = Extract<TaskEvent, { type: `context.${string}` }>;

export function contextAfter(context: Context, event: ContextEvent): Context {
  switch (event.type) {
    case 'context.summarised':
      return { ...shorter(context), summary: { upTo: event.upTo, text: event.summary } };
    case 'context.clipped':
      return { ...shorter(context), clip: { upTo: event.upTo, chars: event.chars } };
    case 'context.exceeded':
      return { ...context, refused: 'yes' };
  }
}

function shorter(context: Context): Context {
  return { ...context, refused: context.refused === 'no' ? 'no' : 'shortened', counted: null };
}

/** What the provider counts includes what only it sees; one that counts nothing says nothing by it. */
export function contextAnswered(context: Context, turn: Turn | null, { inputTokens }: Usage): Context {
  const counted =
    turn === null || inputTokens === 0 ? null : { turn: turn.turn, model: turn.model, inputTokens };
  return { ...context, refused: 'no', counted };
}
