/**
 * Converts stream parts of the AI SDK to model events. It yields tool calls only after the normal end of the turn.
 * Otherwise an interrupted stream could yield an incomplete call.
 */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { TurnEnd, Usage } from '../task/events.ts';
import type { ModelEvent } from './model.ts';
import { TurnPartCollector } from './turn-part-collector.ts';

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;
type CallEvent = Extract<ModelEvent, { type: 'call' }>;

/** The result of a part: events (maybe with the end of the turn), or a failure of the turn. */
type PartResult =
  { type: 'events'; events: ModelEvent[]; ended: boolean } | { type: 'failure'; error: unknown };

/** Reads one attempt of a model call. A retry needs a new object. */
export class StreamPartReader {
  readonly #calls: CallEvent[] = [];
  readonly #parts = new TurnPartCollector();
  #said = false;
  #left: number;

  /** @param longest the maximum length of an answer in characters, including reasoning and tool input */
  constructor(longest = Infinity) {
    this.#left = longest;
  }

  /** Processes the next part of the stream. */
  read(part: LanguageModelV3StreamPart): PartResult {
    switch (part.type) {
      case 'text-delta':
        this.#parts.block('text', part);
        if (part.delta.trim() !== '') this.#said = true;
        return this.#goesOn(part.delta, part.delta === '' ? [] : [{ type: 'text', text: part.delta }]);
      case 'reasoning-delta':
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
        // The provider itself executes this call. The server never offers such tools, because it cannot approve their
        // calls.
        if (part.providerExecuted === true) return events([]);
        this.#parts.call(part.providerMetadata);
        this.#calls.push({
          type: 'call',
          modelCallId: part.toolCallId,
          tool: part.toolName,
          input: inputOf(part.input),
        });
        return events([]);
      case 'error':
        return { type: 'failure', error: part.error };
      case 'finish':
        return this.#finish(part);
      case 'stream-start':
      case 'response-metadata':
      case 'tool-input-start':
      case 'tool-input-end':
      case 'tool-result':
      case 'tool-approval-request':
      case 'file':
      case 'source':
      case 'raw':
        return events([]);
    }
  }

  /** Counts the characters of the answer. Above the limit, ends the turn and drops its calls. */
  #goesOn(delta: string, handedOut: ModelEvent[]): PartResult {
    this.#left -= delta.length;
    return this.#left >= 0
      ? events(handedOut)
      : { type: 'events', events: [...handedOut, ENDLESS], ended: true };
  }

  #finish({ finishReason, usage }: Finish): PartResult {
    // Some providers end an interrupted stream with a `finish` without a raw reason.
    if (finishReason.unified === 'other' && finishReason.raw === undefined)
      return { type: 'failure', error: new StreamCutOff() };
    if (finishReason.unified === 'error')
      return { type: 'failure', error: new ModelRefusal(finishReason.raw ?? 'error') };
    const end = endOf(finishReason.unified, { called: this.#calls.length > 0, said: this.#said });
    // Providers refuse the state of an incomplete turn, e.g. reasoning without its signature.
    const parts = end === 'stop' || end === 'tool-calls' ? this.#parts.result() : undefined;
    const finish: ModelEvent = { type: 'finish', end, usage: usageOf(usage), ...(parts && { parts }) };
    return { type: 'events', events: [...this.#calls, finish], ended: true };
  }
}

/** The end of an endless answer. The provider has not sent token counts yet. */
const ENDLESS: ModelEvent = {
  type: 'finish',
  end: 'length',
  usage: { inputTokens: 0, outputTokens: 0 },
};

function usageOf({ inputTokens, outputTokens }: Finish['usage']): Usage {
  const cachedInputTokens = inputTokens.cacheRead ?? 0;
  const cacheWriteTokens = inputTokens.cacheWrite ?? 0;
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(cachedInputTokens > 0 && { cachedInputTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  };
}

/** The error for a stream that ended before the end of the turn. */
export class StreamCutOff extends Error {
  override readonly name = 'CutOff';

  constructor() {
    super('the answer ended early');
  }
}

/** The error for a turn that the provider ended, e.g. because of a malformed call. */
export class ModelRefusal extends Error {
  override readonly name = 'ModelRefusal';

  constructor(reason: string) {
    super(`the turn ended with the reason ${JSON.stringify(reason.slice(0, 100))}`);
  }
}

/** Chooses between `stop` and `tool-calls` by the calls, because some compatible servers report a wrong reason. */
function endOf(
  unified: Finish['finishReason']['unified'],
  { called, said }: { called: boolean; said: boolean },
): TurnEnd {
  if (unified === 'length' || unified === 'content-filter') return unified;
  if (called) return 'tool-calls';
  return said ? 'stop' : 'empty';
}

/** Parses the input. Several providers send an empty input for a call without arguments. */
function inputOf(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    const input: unknown = JSON.parse(json);
    return input;
  } catch {
    return json;
  }
}

function events(handedOut: ModelEvent[]): PartResult {
  return { type: 'events', events: handedOut, ended: false };
}
