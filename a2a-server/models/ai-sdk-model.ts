/**
 * Adapts a language model of the AI SDK (interface version 3) to the server's `Model`.
 *
 * - A request is retried only before its first event. So no text appears twice.
 * - If the provider refuses the reasoning or signatures of earlier turns, the next request omits them. If the provider
 *   demands the reasoning of a turn that has none, the next request contains a short text instead.
 * - If the provider refuses the files of the conversation, the next request replaces them by text.
 * - Tool calls appear only at the end of a turn. An interrupted turn yields no tool call.
 * - An abort, or the end of the iteration, cancels the request at once, without a wait for the provider.
 */
import type { LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { onAbort, unlessAborted } from '../../shared/runtime/abort.ts';
import type { ConversationStep, Model, ModelEvent, ModelRequest } from './model.ts';
import { filesOfStep, withoutFiles } from '../task/conversation/select-files-for-model.ts';
import { PROVIDER_RETRY_POLICY, withRetries, type ProviderRetryPolicy } from './retry-policy.ts';
import { toCallOptions, type ProviderRequestOptions } from './ai-sdk-prompt.ts';
import {
  toProviderError,
  demandsReasoning,
  refusedKeyOrModel,
  refusesFiles,
  refusesReasoningState,
  type ProviderFailureContext,
} from './provider-failure.ts';
import { type EventBatch, ModelStreamReader, StreamCutOffError } from './model-stream-reader.ts';

type PartReader = ReadableStreamDefaultReader<LanguageModelV3StreamPart>;

/** A model of the AI SDK. The server uses only its method for streams. */
export type StreamingModel = Pick<LanguageModelV3, 'doStream'>;

export interface AiSdkModelSource extends Pick<
  Model,
  'id' | 'price' | 'endpoint' | 'contextWindow' | 'inputModes'
> {
  /** Reads the key and loads the model. Called at the first turn, so that an idle server loads no provider code. */
  load: () => Promise<StreamingModel>;
  /** True if `load` may return another key later. If the provider refuses the key, `load` is then called once more. */
  keyExpires?: boolean;
  provider?: ProviderRequestOptions;
  failureContext?: Omit<ProviderFailureContext, 'model'>;
  retryPolicy?: ProviderRetryPolicy;
}

export function createAiSdkModel({
  load,
  keyExpires = false,
  provider = {},
  failureContext,
  retryPolicy = PROVIDER_RETRY_POLICY,
  ...facts
}: AiSdkModelSource): Model {
  const { id, contextWindow = Infinity } = facts;
  const asker: StreamOptions = {
    loaded: new Loaded(load),
    keyExpires,
    provider,
    retryPolicy,
    maxAnswerChars: contextWindow * MAX_CHARS_PER_TOKEN,
    failureContext: { model: id, secrets: [], ...failureContext },
    reasoning: 'kept',
  };
  return {
    ...facts,
    readsInstructions: true,
    quietMs: QUIET_MS,
    stream: (request) => ({
      [Symbol.asyncIterator]() {
        const abort = new AbortController();
        const turn = streamTurn(asker, request, abort);
        return {
          next: () => turn.next(),
          // A pending `next` delays `return`, so the abort first ends the pending `next`.
          return: () => {
            abort.abort();
            return turn.return(undefined);
          },
        };
      },
    }),
  };
}

/**
 * The time without an event after which the task's status reports that the model is quiet. A provider may queue or
 * think for minutes.
 */
const QUIET_MS = 20_000;

/** The maximum number of answer characters per token of the context window. A longer answer is treated as endless. */
const MAX_CHARS_PER_TOKEN = 4;

/** Loads a value once. After a failure or `forget`, the next `get` loads the value again. */
class Loaded<Value> {
  readonly #load: () => Promise<Value>;
  #value: Promise<Value> | undefined;

  constructor(load: () => Promise<Value>) {
    this.#load = load;
  }

  async get(): Promise<Value> {
    const value = (this.#value ??= this.#load());
    try {
      return await value;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  forget(): void {
    this.#value = undefined;
  }
}

interface StreamOptions {
  loaded: Loaded<StreamingModel>;
  keyExpires: boolean;
  provider: ProviderRequestOptions;
  maxAnswerChars: number;
  retryPolicy: ProviderRetryPolicy;
  failureContext: ProviderFailureContext;
  /**
   * What the endpoint's refusals have shown about the reasoning of earlier turns. `kept`: nothing yet. `refused`: no
   * later request contains reasoning. `demanded`: in later requests, each turn has reasoning.
   */
  reasoning: 'kept' | 'refused' | 'demanded';
}

interface OpenedStream {
  reader: PartReader;
  parts: ModelStreamReader;
  first: EventBatch;
}

async function* streamTurn(
  asker: StreamOptions,
  request: ModelRequest,
  abort: AbortController,
): AsyncGenerator<ModelEvent, undefined, undefined> {
  const { signal } = abort;
  const unlink = onAbort(request.signal, () => abort.abort());
  try {
    signal.throwIfAborted();
    const { reader, parts, first } = await openWithRetries(asker, request, signal);
    const unbind = onAbort(signal, () => release(reader));
    try {
      yield* first.events;
      for (let batch = first; !batch.ended;) {
        batch = await readBatch(reader, parts, signal);
        yield* batch.events;
      }
    } finally {
      unbind();
      release(reader);
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw toProviderError(thrown, asker.failureContext);
  } finally {
    unlink();
  }
  return undefined;
}

async function openWithRetries(
  asker: StreamOptions,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<OpenedStream> {
  const attempt = () =>
    withRetries(() => openStreamOrOmitFiles(asker, request, signal), { ...asker, signal });
  try {
    return await attempt();
  } catch (error) {
    if (refusedKeyOrModel(error) !== 'key') throw error;
    // The person may have changed the key. The next load reads it again.
    asker.loaded.forget();
    if (!asker.keyExpires) throw error;
    return attempt();
  }
}

async function openStreamOrOmitFiles(
  asker: StreamOptions,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<OpenedStream> {
  try {
    return await openWithState(asker, request, signal);
  } catch (error) {
    // The next request replaces the files by text. Otherwise one damaged image would make every later task of the
    // session fail.
    const { conversation } = request;
    if (!refusesFiles(error) || conversation.every((step) => filesOfStep(step).length === 0)) throw error;
    return openWithState(asker, { ...request, conversation: withoutFiles(conversation) }, signal);
  }
}

async function openWithState(
  asker: StreamOptions,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<OpenedStream> {
  // Remembers what this request sends, because another request may change `asker.reasoning` before the answer arrives.
  const sent = asker.reasoning;
  try {
    return await openStream(asker, withReasoningFor(asker, request), signal);
  } catch (error) {
    if (sent !== 'demanded' && demandsReasoning(error)) {
      asker.reasoning = 'demanded';
      return openStream(asker, withReasoningFor(asker, request), signal);
    }
    const parts = request.conversation.flatMap((step) => ('parts' in step ? (step.parts ?? []) : []));
    if (parts.length === 0 || sent === 'refused' || !refusesReasoningState(error)) throw error;
    const opened = await openStream(asker, withoutParts(request), signal);
    // The request without reasoning succeeded, so the reasoning was the cause. If no turn had provider data such as a
    // signature (`state`), the endpoint accepts no reasoning at all. So later requests omit it.
    if (parts.every(({ state }) => state === undefined)) asker.reasoning = 'refused';
    return opened;
  }
}

function withReasoningFor({ reasoning }: StreamOptions, request: ModelRequest): ModelRequest {
  switch (reasoning) {
    case 'kept':
      return request;
    case 'refused':
      return withoutParts(request);
    case 'demanded':
      return withReasoningInEachTurn(request);
  }
}

/** The text for reasoning that is lost, e.g. because another model wrote the turn. Some endpoints refuse an empty text. */
const LOST_REASONING = '(The reasoning of this turn is not available.)';

function withReasoningInEachTurn(request: ModelRequest): ModelRequest {
  const conversation = request.conversation.map((step): ConversationStep => {
    if (step.role !== 'assistant') return step;
    const parts = step.parts ?? [
      ...(step.text === '' ? [] : [{ type: 'text' as const, text: step.text }]),
      ...step.calls.map((call) => ({ ...call, type: 'call' as const })),
    ];
    if (parts.some((part) => part.type === 'reasoning' && part.text !== '')) return step;
    return { ...step, parts: [{ type: 'reasoning', text: LOST_REASONING }, ...parts] };
  });
  return { ...request, conversation };
}

function withoutParts(request: ModelRequest): ModelRequest {
  const conversation = request.conversation.map((step): ConversationStep => {
    if (step.role !== 'assistant') return step;
    const { parts: _, ...plain } = step;
    return plain;
  });
  return { ...request, conversation };
}

/** Calls the model and reads the stream until the first events. A retry before these events repeats no text. */
async function openStream(
  { loaded, provider, maxAnswerChars }: StreamOptions,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<OpenedStream> {
  const options = { ...toCallOptions(request, provider), abortSignal: signal };
  const asked = loaded.get().then((model) => model.doStream(options));
  const { stream } = await unlessAborted(asked, signal, (late) => late.stream.cancel());
  const reader = stream.getReader();
  const parts = new ModelStreamReader(maxAnswerChars);
  const unbind = onAbort(signal, () => release(reader));
  try {
    return { reader, parts, first: await readBatch(reader, parts, signal) };
  } catch (error) {
    release(reader);
    throw error;
  } finally {
    unbind();
  }
}

async function readBatch(
  reader: PartReader,
  parts: ModelStreamReader,
  signal: AbortSignal,
): Promise<EventBatch> {
  for (;;) {
    const { done, value } = await reader.read();
    signal.throwIfAborted();
    if (done) throw new StreamCutOffError();
    const batch = parts.read(value);
    if (batch.events.length > 0 || batch.ended) return batch;
  }
}

/** Cancels the stream. A pending read ends at once, even if the provider does not react. */
function release(reader: PartReader): void {
  reader.cancel().catch(() => undefined);
}
