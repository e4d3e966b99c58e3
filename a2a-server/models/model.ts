/** The model port: a conversation and a set of tools in, a stream of text and tool calls out. */
import { ProductError } from '../../shared/errors.ts';
import type { ConversationStep } from '../task/conversation.ts';
import type { Artifact, TurnEnd, Usage, UserMessage } from '../task/events.ts';
import type { Exchange, TaskPlace } from '../task/snapshot.ts';
import type { Price } from '../task/spending.ts';

export type { ConversationStep, ModelCall } from '../task/conversation.ts';

export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>;
}

export interface ModelRequest {
  instructions: string;
  conversation: ConversationStep[];
  /** The task's own messages and turns so far: for an agent that follows rules instead of words. */
  exchanges: readonly Exchange[];
  tools: ToolDeclaration[];
  /** Where the turn is asked: for an agent that keeps a memory, a process and a directory of its own. */
  place?: TaskPlace;
  signal: AbortSignal;
}

export type ModelEvent =
  | { type: 'text'; text: string }
  /** Given beside the words. `append`: its parts come after those it was given in this turn before. */
  | { type: 'artifact'; artifact: Artifact; append: boolean; lastChunk: boolean }
  /** Where the agent's own memory of the conversation is, from here on. */
  | { type: 'session'; agentSessionId: string }
  /** Said of where the work is; no part of the answer. */
  | { type: 'note'; text: string }
  /** `input` is what the model wrote: valid JSON or, where it was not, the raw text. It is checked by the caller. */
  | { type: 'call'; modelCallId: string; tool: string; input: unknown }
  | { type: 'finish'; end: TurnEnd; usage: Usage };

/** The fact of a failure that says how long the provider asked to be left alone, in milliseconds. */
export const RETRY_AFTER = 'retryAfterMs';

/** The provider takes no prompt of this length. Asking again helps only with a shorter one. */
export class PromptTooLong extends ProductError {
  constructor(message: string) {
    super('AGENT_ERROR', message);
  }
}

export interface Model {
  /** Shown to people and recorded with each turn, e.g. `offline` or `anthropic:claude-…`. */
  readonly id: string;
  /** What it costs, where that is known. */
  readonly price?: Price;
  /** How many tokens of a conversation and its answer it takes at most; as many as there are where this is left out. */
  readonly contextWindow?: number;
  /**
   * One turn. Ends with exactly one `finish`, or throws: ProductError AGENT_ERROR for a refusal of the provider, as
   * PromptTooLong where that is the reason,
   * AGENT_UNREACHABLE (retryable) when it could not be reached after the model's own retries, or broke off; with the fact
   * `RETRY_AFTER` where it asked for a pause. After `signal` aborts it ends promptly, by any means.
   */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
  /** What a task that begins with this message is answered with; `task` where this is left out. */
  answersWith?(message: UserMessage): 'task' | 'message';
}

/** The models a server offers, by tier or id. */
export interface Models {
  /** @param name a tier (`fast`, `smart`), an id, or undefined for the default. @throws ProductError UNKNOWN_MODEL naming those that exist. */
  resolve(name: string | undefined): Model;
  list(): string[];
}
