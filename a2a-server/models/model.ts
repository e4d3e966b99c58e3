/** Defines a model: its input is a conversation and tools. It streams text and tool calls. */
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
  /** The contents of the conversation's files, by hash. */
  files?: ReadonlyMap<string, Uint8Array>;
  /** The task and its workspace, for an agent with its own memory, process and directory (ACP). */
  place?: TaskPlace;
  /** The maximum length of the answer in tokens, for a trial. It overrides the settings. */
  maxOutputTokens?: number;
  signal: AbortSignal;
}

export type ModelEvent =
  | { type: 'text'; text: string }
  /** The model's reasoning. It is not part of the answer. */
  | { type: 'reasoning'; text: string }
  /** An artifact that is not the text. `append` adds its parts to the same artifact of this turn. */
  | { type: 'artifact'; artifact: Artifact; append: boolean; lastChunk: boolean }
  /** The agent's own session id, valid from now on. */
  | { type: 'session'; agentSessionId: string }
  /** A progress note. It is not part of the answer. */
  | { type: 'note'; text: string }
  /** `input` is the model's JSON, parsed, or the raw text if it is not valid JSON. The caller checks it. */
  | { type: 'call'; modelCallId: string; tool: string; input: unknown }
  /** `parts`: the turn in the model's order. Present if the model needs more than text and calls in later requests. */
  | { type: 'finish'; end: TurnEnd; usage: Usage; parts?: readonly TurnPart[] };

/** The key of an error's fact: the delay that the provider asked for, in milliseconds. */
export const RETRY_AFTER = 'retryAfterMs';

/** The error for a prompt that is too long for the provider. A retry needs a shorter prompt. */
export class PromptTooLong extends ProductError {
  constructor(message: string) {
    super('AGENT_ERROR', message);
  }
}

export interface Model {
  /** The model id, for people and for the journal, e.g. `offline` or `anthropic:claude-…`. */
  readonly id: string;
  /** The price of the model, if known. */
  readonly price?: Price;
  /** The maximum number of tokens of a conversation and its answer. Unlimited if omitted. */
  readonly contextWindow?: number;
  /**
   * True if the prompt must contain the workspace's instruction files. An ACP agent reads such files itself, and
   * commands need none.
   */
  readonly readsInstructions?: boolean;
  /** The media types of the files that the model takes, beside text. None if omitted. */
  readonly inputModes?: readonly string[];
  /** The time without an event after which the task's status reports the silence, in milliseconds. If absent, never. */
  readonly quietMs?: number;
  /** The address of the provider, if it is not the provider's own. Another address may belong to another company. */
  readonly endpoint?: string;
  /**
   * Runs one turn. It ends with exactly one `finish`, or throws. After `signal` aborts, the iteration ends soon, with
   * or without an error.
   * @throws ProductError AGENT_ERROR if the provider refuses (PromptTooLong for a long prompt); AGENT_UNREACHABLE
   * (retryable) if the provider is unreachable after the model's own retries, or if the answer ends early. The fact
   * `RETRY_AFTER` has the delay that the provider asked for.
   */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
  /** Returns the kind of answer to a first message: a task, or only a message. The default is `task`. */
  answersWith?(message: UserMessage): 'task' | 'message';
}

/** The models of the server, by tier or id. */
export interface Models {
  /**
   * @param name a tier (`fast`, `smart`), an id, or undefined for the default
   * @throws ProductError UNKNOWN_MODEL, which lists the models
   */
  resolve(name: string | undefined): Model;
  list(): string[];
}
