/**
 * The offline model: a real language model of the AI SDK's interface, without a network, a key or a cost. It follows the
 * small imperative language of docs/offline-model.md, one step in a turn, and is the default.
 */
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from '@ai-sdk/provider';
import { nextTurn, type NextTurn, type Said } from './next-turn.ts';
import { unanswered } from './unanswered.ts';

/** Nothing is counted, because nothing is charged. */
const NO_USAGE: LanguageModelV3Usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};
const TEXT_ID = 'text';
/** Parts made ready ahead of the reader. */
const AHEAD = 32;

export const offlineModel: LanguageModelV3 = {
  specificationVersion: 'v3',
  provider: 'offline',
  modelId: 'offline',
  supportedUrls: {},

  async doGenerate(options) {
    options.abortSignal?.throwIfAborted();
    const turn = turnFor(options);
    const text = [...deltas(turn.said)].join('');
    const content: LanguageModelV3Content[] = [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...turn.calls.map(callPart),
    ];
    return { content, finishReason: finishOf(turn), usage: NO_USAGE, warnings: [] };
  },

  async doStream(options) {
    options.abortSignal?.throwIfAborted();
    return { stream: streamOf(parts(turnFor(options)), options.abortSignal) };
  },
};

function turnFor({ prompt, tools }: LanguageModelV3CallOptions): NextTurn {
  return nextTurn(unanswered(prompt), new Set(tools?.map((tool) => tool.name)));
}

function* parts(turn: NextTurn): Generator<LanguageModelV3StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: TEXT_ID };
  for (const delta of deltas(turn.said)) yield { type: 'text-delta', id: TEXT_ID, delta };
  yield { type: 'text-end', id: TEXT_ID };
  for (const call of turn.calls) {
    yield { type: 'tool-input-start', id: call.id, toolName: call.tool };
    yield { type: 'tool-input-end', id: call.id };
    yield callPart(call);
  }
  yield { type: 'finish', finishReason: finishOf(turn), usage: NO_USAGE };
}

/** Word by word; a repeated text chunk by chunk, so that a stream of n chunks can be asked for exactly. */
function* deltas(said: readonly Said[]): Generator<string> {
  for (const [at, { text, repeat }] of said.entries()) {
    if (at > 0) yield '\n\n';
    if (repeat === undefined) for (const [word] of text.matchAll(/\s+|\S{1,200}\s?/gu)) yield word;
    else for (let chunk = 0; chunk < repeat; chunk += 1) yield text;
  }
}

function callPart(
  call: NextTurn['calls'][number],
): Extract<LanguageModelV3StreamPart, { type: 'tool-call' }> {
  return { type: 'tool-call', toolCallId: call.id, toolName: call.tool, input: JSON.stringify(call.input) };
}

function finishOf(turn: NextTurn): { unified: 'stop' | 'tool-calls'; raw: string } {
  const unified = turn.calls.length > 0 ? 'tool-calls' : 'stop';
  return { unified, raw: unified };
}

/** Pulled at the reader's speed: a stream of a million chunks is never held. */
function streamOf<Part>(source: Generator<Part>, signal: AbortSignal | undefined): ReadableStream<Part> {
  return new ReadableStream<Part>(
    {
      pull(controller) {
        if (signal?.aborted) return controller.error(signal.reason);
        do {
          const next = source.next();
          if (next.done) return controller.close();
          controller.enqueue(next.value);
        } while ((controller.desiredSize ?? 0) > 0);
        return undefined;
      },
      cancel() {
        source.return(undefined);
      },
    },
    { highWaterMark: AHEAD },
  );
}
