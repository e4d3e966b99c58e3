/**
 * Converts stream parts of the AI SDK to model events. Tool calls appear only at the end of the turn, and only complete
 * ones. An interrupted stream yields no tool call.
 */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { isRecord } from '../../shared/runtime/record.ts';
import { parseJson } from '../../shared/text/parse-json.ts';
import type { TurnEnd, TokenUsage } from '../task/events.ts';
import { newVariantIn } from './anthropic-new-variants.ts';
import { NO_USAGE, type ModelEvent } from './model.ts';
import { citedSourcesText, type CitedSource } from './cited-sources-text.ts';
import { TurnPartCollector } from './turn-part-collector.ts';

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;
type CallEvent = Extract<ModelEvent, { type: 'call' }>;

/** The effect of one part. `ended` is true if the part ends the turn. */
export interface EventBatch {
  events: ModelEvent[];
  ended: boolean;
}

/** Reads the stream of one attempt of a model call. A retry needs a new reader. */
export class ModelStreamReader {
  readonly #calls: CallEvent[] = [];
  readonly #parts = new TurnPartCollector();
  readonly #sources: CitedSource[] = [];
  /** The ids of content blocks of unknown types. */
  readonly #ignored = new Set<string>();
  #text = '';
  #left: number;

  /** @param longest the maximum length of an answer in characters, including reasoning and tool input */
  constructor(longest = Infinity) {
    this.#left = longest;
  }

  /** @throws the error of the part, if the attempt has failed */
  read(part: LanguageModelV3StreamPart): EventBatch {
    switch (part.type) {
      case 'text-delta':
        if (this.#ignored.has(part.id)) return events([]);
        this.#parts.block('text', part);
        this.#text += part.delta;
        return this.#goesOn(part.delta, part.delta === '' ? [] : [{ type: 'text', text: part.delta }]);
      case 'reasoning-delta':
        if (this.#ignored.has(part.id)) return events([]);
        this.#parts.block('reasoning', part);
        return this.#goesOn(part.delta, part.delta === '' ? [] : [{ type: 'reasoning', text: part.delta }]);
      case 'text-start':
      case 'text-end':
        this.#parts.block('text', part);
        return events([]);
      case 'reasoning-start':
      case 'reasoning-end':
        this.#parts.block('reasoning', part);
        return events([]);
      case 'tool-input-delta':
        return this.#goesOn(part.delta, []);
      case 'tool-call':
        // A tool call that the provider executes itself is ignored. The server never offers such tools, because no
        // person can approve their calls.
        if (part.providerExecuted === true) return events([]);
        this.#parts.call(part.providerMetadata);
        this.#calls.push({
          type: 'call',
          modelCallId: part.toolCallId,
          tool: toolNameIn(part.toolName),
          input: inputOf(part.input),
        });
        return events([]);
      case 'source':
        this.#sources.push(part);
        return events([]);
      case 'error':
        return this.#error(part.error);
      case 'finish':
        return this.#finish(part);
      case 'stream-start':
      case 'response-metadata':
      case 'tool-input-start':
      case 'tool-input-end':
      case 'tool-result':
      case 'tool-approval-request':
      case 'file':
      case 'raw':
        return events([]);
    }
  }

  #error(error: unknown): EventBatch {
    const variant = newVariantIn(error);
    if (variant === undefined) throw error;
    if (variant.type === 'block') this.#ignored.add(variant.block);
    return events([]);
  }

  /** Counts the characters of the answer. Above the limit, the turn ends, and its calls are dropped. */
  #goesOn(delta: string, handedOut: ModelEvent[]): EventBatch {
    this.#left -= delta.length;
    return this.#left >= 0 ? events(handedOut) : { events: [...handedOut, LIMIT_REACHED], ended: true };
  }

  #finish({ finishReason, usage }: Finish): EventBatch {
    // For an interrupted stream, some providers send a `finish` without a raw reason.
    if (finishReason.unified === 'other' && finishReason.raw === undefined) throw new StreamCutOffError();
    const isMalformed = MALFORMED.has(finishReason.raw ?? '');
    if (finishReason.unified === 'error' && !isMalformed)
      throw new FinishReasonError(finishReason.raw ?? 'error');
    const end = isMalformed
      ? 'empty'
      : endOf(finishReason.unified, { called: this.#calls.length > 0, said: this.#text.trim() !== '' });
    // Providers refuse the data of an incomplete turn, e.g. reasoning without its signature.
    const parts = end === 'stop' || end === 'tool-calls' ? this.#parts.result() : undefined;
    const finish: ModelEvent = { type: 'finish', end, usage: usageOf(usage), ...(parts && { parts }) };
    // The list of sources is streamed as text, so clients and the journal have it. `parts` does not contain it. A later
    // request that replays `parts` therefore contains only the model's own text. A request without `parts` contains the
    // list too.
    const sources = end === 'stop' ? citedSourcesText(this.#sources, this.#text) : '';
    const list: ModelEvent[] = sources === '' ? [] : [{ type: 'text', text: sources }];
    const isCut = end === 'length' || end === 'content-filter';
    const calls = isMalformed ? [] : isCut ? withoutCutCall(this.#calls) : this.#calls;
    return { events: [...list, ...calls, finish], ended: true };
  }
}

/**
 * Gemini's finish reasons for an answer that Google cannot parse, e.g. because of a tool call. The next answer is
 * usually correct. So the turn counts as empty, and the server asks the model again a limited number of times. The text
 * of such an answer is incomplete.
 *
 * Source: https://ai.google.dev/api/generate-content#FinishReason
 */
const MALFORMED: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
]);

/**
 * Returns the calls of an answer that was cut off. Omits the last call if its input is incomplete. Such an input is
 * invalid JSON, or an empty object if the cut came before the first field.
 */
function withoutCutCall(calls: readonly CallEvent[]): readonly CallEvent[] {
  const input = calls.at(-1)?.input;
  const isWhole = isRecord(input) && Object.keys(input).length > 0;
  return isWhole ? calls : calls.slice(0, -1);
}

/** Ends an answer that exceeds the limit. The provider has not sent token counts yet. */
const LIMIT_REACHED: ModelEvent = { type: 'finish', end: 'length', usage: NO_USAGE };

function usageOf({ inputTokens, outputTokens }: Finish['usage']): TokenUsage {
  const cachedInputTokens = inputTokens.cacheRead ?? 0;
  const cacheWriteTokens = inputTokens.cacheWrite ?? 0;
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(cachedInputTokens > 0 && { cachedInputTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  };
}

/** Thrown if the stream ends before the end of the turn. */
export class StreamCutOffError extends Error {
  override readonly name = 'StreamCutOffError';

  constructor() {
    super('the answer ended early');
  }
}

/** Thrown if the provider ends the turn with an error, e.g. because of a malformed call. */
export class FinishReasonError extends Error {
  override readonly name = 'FinishReasonError';

  constructor(reason: string) {
    super(`the turn ended with the reason ${JSON.stringify(reason.slice(0, 100))}`);
  }
}

/**
 * Returns how the turn ended. The calls and the text decide between `tool-calls`, `stop` and `empty`, because some
 * compatible servers report a wrong reason.
 */
function endOf(
  unified: Finish['finishReason']['unified'],
  { called, said }: { called: boolean; said: boolean },
): TurnEnd {
  if (unified === 'length' || unified === 'content-filter') return unified;
  if (called) return 'tool-calls';
  return said ? 'stop' : 'empty';
}

/**
 * Returns the name of the tool without what some models add to it. GPT models sometimes write `functions.read-file`,
 * and gpt-oss writes `read-file<|channel|>commentary`. No tool has such a name.
 *
 * Source: https://github.com/tontinton/maki/pull/518 and https://github.com/ollama/ollama/issues/12132
 */
function toolNameIn(written: string): string {
  return written.replace(/^functions\./, '').replace(/<\|.*$/s, '') || written;
}

/** Parses the input of a tool call. Several providers send an empty text for a call without arguments. */
function inputOf(json: string): unknown {
  if (json.trim() === '') return {};
  const input = parseJson(json);
  return input === undefined ? json : input;
}

function events(handedOut: ModelEvent[]): EventBatch {
  return { events: handedOut, ended: false };
}
