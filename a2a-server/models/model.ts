/** Defines a model: it takes a conversation and tools, and streams text and tool calls. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { ConversationStep } from '../task/conversation.ts';
import type { Artifact, TurnEnd, Usage, UserMessage } from '../task/events.ts';
import type { ConversationItem, TaskPlace } from '../task/snapshot.ts';
import type { Price } from '../task/spending.ts';
import type { TurnPart } from '../task/turn-replay.ts';
import type { ToolDeclaration } from '../tools/tool.ts';

export type { ConversationStep, ModelCall } from '../task/conversation.ts';

export interface ModelRequest {
  instructions: string;
  conversation: ConversationStep[];
  /** The messages and turns of the task, for an agent that follows rules (the scripted agent). */
  exchanges: readonly ConversationItem[];
  tools: ToolDeclaration[];
  /** The task and its workspace, for an agent with its own memory, process and directory (ACP). */
  place?: TaskPlace;
  signal: AbortSignal;
}

export type ModelEvent =
  | { type: 'text'; text: string }
  /** The model's reasoning; not a part of the answer. */
  | { type: 'reasoning'; text: string }
  /** An artifact beside the text. `append` adds its parts to the same artifact of this turn. */
  | { type: 'artifact'; artifact: Artifact; append: boolean; lastChunk: boolean }
  /** The agent's own session id, valid from now on. */
  | { type: 'session'; agentSessionId: string }
  /** A progress note; not a part of the answer. */
  | { type: 'note'; text: string }
  /** `input` is what the model wrote: parsed JSON, or the raw text if it is not valid JSON. The caller checks it. */
  | { type: 'call'; modelCallId: string; tool: string; input: unknown }
  /** `parts`: the turn in the model's order, if the model needs more of it back than text and calls. */
  | { type: 'finish'; end: TurnEnd; usage: Usage; parts?: readonly TurnPart[] };

/** The fact of a failure with the delay that the provider asked for, in milliseconds. */
export const RETRY_AFTER = 'retryAfterMs';

/** The prompt is too long for the provider. A retry helps only with a shorter prompt. */
export class PromptTooLong extends ProductError {
  constructor(message: string) {
    super('AGENT_ERROR', message);
  }
}

export interface Model {
  /** Shown to people and recorded with each turn, e.g. `offline` or `anthropic:claude-…`. */
  readonly id: string;
  /** The price, if known. */
  readonly price?: Price;
  /** The maximum number of tokens of a conversation and its answer. Unlimited if omitted. */
  readonly contextWindow?: number;
  /** In milliseconds: after this time without an event, the task's status says that it waits. Never if omitted. */
  readonly quietMs?: number;
  /**
   * Runs one turn. It ends with exactly one `finish`, or throws. After `signal` aborts it ends promptly in any way.
   * @throws ProductError AGENT_ERROR if the provider refuses (PromptTooLong if that is the reason); AGENT_UNREACHABLE
   * (retryable) if the provider is unreachable after the model's own retries, or the answer breaks off. The fact
   * `RETRY_AFTER` has the delay that the provider asked for.
   */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
  /** Whether a first message gets a task or a bare message as response. The default is `task`. */
  answersWith?(message: UserMessage): 'task' | 'message';
}

/** The models of the server, by tier or id. */
export interface Models {
  /**
   * @param name a tier (`fast`, `smart`), an id, or undefined for the default. @throws ProductError UNKNOWN_MODEL,
   * which lists the models
   */
  resolve(name: string | undefined): Model;
  list(): string[];
}
