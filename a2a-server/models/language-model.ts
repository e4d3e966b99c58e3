/**
 * Adapts a language model of the AI SDK (interface version 3) to the server's `Model`.
 *
 * Invariants
 * - It retries a turn only before the turn has yielded an event, so no text appears twice.
 * - If the provider refuses the reasoning or the signatures of earlier turns, the next request omits them.
 * - It yields tool calls only at the end of a turn. An interrupted turn yields no tool call.
 * - The end of the iteration, or an abort, cancels the request at once, without a wait for the provider.
 */
import type { LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { onAbort, unlessAborted } from '../../shared/runtime/abort.ts';
import type { ConversationStep, Model, ModelEvent, ModelRequest } from './model.ts';
import { RETRY_POLICY, withRetries, type RetryPolicy } from './retry-policy.ts';
import { callOptions, type ProviderRequest } from './prompt.ts';
import { providerFailure, refusesState, type ProviderFacts } from './provider-failure.ts';
import { StreamCutOff, StreamPartReader } from './stream-part-reader.ts';

type PartReader = ReadableStreamDefaultReader<LanguageModelV3StreamPart>;

export interface LanguageModelSource {
  id: string;
  /** Loads the model at its first turn, so that an idle server does not load a provider's code. */
  load: () => Promise<LanguageModelV3>;
  provider?: ProviderRequest;
  blame?: Omit<ProviderFacts, 'model'>;
  patience?: RetryPolicy;
  price?: Model['price'];
  contextWindow?: number;
}

export function languageModel(source: LanguageModelSource): Model {
  const { id, load, provider = {}, blame, patience = RETRY_POLICY, price, contextWindow } = source;
  const longest = contextWindow === undefined ? Infinity : contextWindow * LONGEST_TOKEN;
  const asker: Asker = {
    load: once(load),
    provider,
    patience,
    longest,
    blame: { model: id, secrets: [], ...blame },
    refusesReasoning: false,
  };
  return {
    id,
    readsInstructions: true,
    quietMs: QUIET_MS,
    ...(price && { price }),
    ...(contextWindow !== undefined && { contextWindow }),
    stream: (request) => ({
      [Symbol.asyncIterator]() {
        const abort = new AbortController();
        const turn = streamTurn(asker, request, abort);
        return {
          next: () => turn.next(),
          // A waiting generator handles `return` only after it wakes, so cancel the request first.
          return: () => {
            abort.abort();
            return turn.return(undefined);
          },
        };
      },
    }),
  };
}

/** After this silence the status reports it. A provider that thinks, or has a queue, may send nothing for minutes. */
const QUIET_MS = 20_000;

/** Characters per token of the context window. A longer answer is an endless answer. */
const LONGEST_TOKEN = 4;

/** Loads a value once. After a failed import, the next call tries again. */
function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loaded: Promise<Value> | undefined;
  return async () => {
    loaded ??= load();
    try {
      return await loaded;
    } catch (error) {
      loaded = undefined;
      throw error;
    }
  };
}

interface Asker {
  load: () => Promise<LanguageModelV3>;
  provider: ProviderRequest;
  /** The maximum length of an answer, in characters. */
  longest: number;
  patience: RetryPolicy;
  blame: ProviderFacts;
  /** True if the endpoint has refused reasoning even without signatures. Then it never gets reasoning again. */
  refusesReasoning: boolean;
}

/** A started answer and its first events. */
interface Opened {
  reader: PartReader;
  parts: StreamPartReader;
  first: Heard;
}

interface Heard {
  events: ModelEvent[];
  ended: boolean;
}

async function* streamTurn(
  asker: Asker,
  request: ModelRequest,
  abort: AbortController,
): AsyncGenerator<ModelEvent, undefined, undefined> {
  const { signal } = abort;
  const unlink = onAbort(request.signal, () => abort.abort());
  try {
    signal.throwIfAborted();
    const { reader, parts, first } = await withRetries(() => open(asker, request, signal), {
      ...asker,
      signal,
    });
    const unbind = onAbort(signal, () => release(reader));
    try {
      yield* first.events;
      for (let heard = first; !heard.ended;) {
        heard = await hear(reader, parts, signal);
        yield* heard.events;
      }
    } finally {
      unbind();
      release(reader);
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw providerFailure(thrown, asker.blame).error;
  } finally {
    unlink();
  }
  return undefined;
}

async function open(asker: Asker, request: ModelRequest, signal: AbortSignal): Promise<Opened> {
  const parts = request.conversation.flatMap((step) => ('parts' in step ? (step.parts ?? []) : []));
  if (parts.length === 0) return openStream(asker, request, signal);
  if (asker.refusesReasoning) return openStream(asker, withoutParts(request), signal);
  try {
    return await openStream(asker, request, signal);
  } catch (error) {
    if (!refusesState(error)) throw error;
    const opened = await openStream(asker, withoutParts(request), signal);
    // Now it is proven that the parts were the cause.
    asker.refusesReasoning ||= parts.every(({ state }) => state === undefined);
    return opened;
  }
}

function withoutParts(request: ModelRequest): ModelRequest {
  const conversation = request.conversation.map((step): ConversationStep => {
    if (step.role !== 'assistant') return step;
    const { parts: _, ...plain } = step;
    return plain;
  });
  return { ...request, conversation };
}

/** Calls the model and reads up to the first events, so that a retry never repeats any. */
async function openStream(
  { load, provider, longest }: Asker,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Opened> {
  const options = { ...callOptions(request, provider), abortSignal: signal };
  const asked = load().then((model) => model.doStream(options));
  const { stream } = await unlessAborted(asked, signal, (late) => late.stream.cancel());
  const reader = stream.getReader();
  const parts = new StreamPartReader(longest);
  const unbind = onAbort(signal, () => release(reader));
  try {
    return { reader, parts, first: await hear(reader, parts, signal) };
  } catch (error) {
    release(reader);
    throw error;
  } finally {
    unbind();
  }
}

/** Reads until there are events to yield or the turn ends. */
async function hear(reader: PartReader, parts: StreamPartReader, signal: AbortSignal): Promise<Heard> {
  for (;;) {
    const { done, value } = await reader.read();
    signal.throwIfAborted();
    if (done) throw new StreamCutOff();
    const meaning = parts.read(value);
    if (meaning.type === 'failure') throw meaning.error;
    if (meaning.events.length > 0 || meaning.ended) return meaning;
  }
}

/** Cancels the stream. This ends a waiting read at once, even if the provider does not react. */
function release(reader: PartReader): void {
  reader.cancel().catch(() => undefined);
}
