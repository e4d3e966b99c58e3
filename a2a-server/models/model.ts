/** Defines the interface of a model. A model gets a conversation and tools, and streams text and tool calls. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { ConversationStep } from '../task/conversation/conversation.ts';
import type { Artifact, TurnEnd, TokenUsage, UserMessage } from '../task/events.ts';
import type { ConversationItem, TaskWithEarlierTasks } from '../task/snapshot.ts';
import type { Price } from '../task/spending.ts';
import type { TurnPart } from '../task/replay-provider-data.ts';
import type { ToolDeclaration } from '../tools/tool.ts';

export type { ConversationStep } from '../task/conversation/conversation.ts';

export interface ModelRequest {
  instructions: string;
  conversation: ConversationStep[];
  /** The messages and turns of the task. The scripted agent reads them. */
  exchanges: readonly ConversationItem[];
  tools: ToolDeclaration[];
  files?: ReadonlyMap<string, Uint8Array>;
  /** The task and its workspace. An ACP agent needs them, because it has its own memory and process. */
  place?: TaskWithEarlierTasks;
  /** The maximum length of the answer in tokens. It overrides the limit of the settings, for a short test request. */
  maxOutputTokens?: number;
  signal: AbortSignal;
}

export type ModelEvent =
  | { type: 'text'; text: string }
  /** A piece of the model's reasoning. It is not part of the answer. */
  | { type: 'reasoning'; text: string }
  /** A piece of an artifact. With `append`, the parts extend the artifact with the same id in this turn. */
  | { type: 'artifact'; artifact: Artifact; append: boolean; lastChunk: boolean }
  /** The agent's own session id. It replaces the earlier id. */
  | { type: 'session'; agentSessionId: string }
  /** A note about progress. It is not part of the answer. */
  | { type: 'note'; text: string }
  /**
   * `input` is the parsed JSON of the model, or its raw text if that is not valid JSON. The receiver must validate
   * `input`.
   */
  | { type: 'call'; modelCallId: string; tool: string; input: unknown }
  /** `parts` lists the turn in the model's order. It is present if later requests need more than text and calls. */
  | { type: 'finish'; end: TurnEnd; usage: TokenUsage; parts?: readonly TurnPart[] };

/** The usage of a turn that no language model answered. */
export const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0 };

/** The fact of a ProductError that has the provider's requested delay, in milliseconds. */
export const RETRY_AFTER_FACT = 'retryAfterMs';

/** Thrown if the prompt is too long for the provider. A retry needs a shorter prompt. */
export class PromptTooLongError extends ProductError {
  constructor(message: string) {
    super('AGENT_ERROR', message);
  }
}

export interface Model {
  /** The id of the model, e.g. `offline` or `anthropic:claude-…`. It appears in the journal and in texts for people. */
  readonly id: string;
  /** The price of tokens. Absent if it is unknown. */
  readonly price?: Price;
  /** The maximum number of tokens of a prompt and its answer. If absent, there is no limit. */
  readonly contextWindow?: number;
  /** True if the prompt must contain the workspace's instruction files. An ACP agent reads these files itself. */
  readonly readsInstructions?: boolean;
  /** The media types of the files that the model accepts. If absent, the model accepts only text. */
  readonly inputModes?: readonly string[];
  /** The advice for a person whose files the model does not accept. If absent, the advice is to use another model. */
  readonly fileAdvice?: string;
  /**
   * The time without an event after which the task's status reports that the model is quiet. If absent, the status
   * never reports this.
   */
  readonly quietMs?: number;
  /** The provider's address, if it differs from the default. Another address may belong to another company. */
  readonly endpoint?: string;
  /**
   * Runs one turn. The turn ends with exactly one `finish`, or throws. After `signal` aborts, the iteration ends soon,
   * with or without an error.
   * @throws ProductError AGENT_ERROR if the provider refuses the request. PromptTooLongError for a prompt that is too
   * long. AGENT_UNREACHABLE (retryable) if the provider stays unreachable after the model's own retries, or if the
   * answer ends early. The fact `RETRY_AFTER_FACT` has the provider's requested delay.
   */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
  /** Returns whether a first message creates a task or only gets a message as its answer. The default is `task`. */
  answersWith?(message: UserMessage): 'task' | 'message';
}

export interface Models {
  /**
   * @param name a tier (`fast`, `smart`), a model id, or undefined for the default model
   * @throws ProductError UNKNOWN_MODEL, which lists the models
   */
  resolve(name: string | undefined): Model;
  list(): string[];
}
