/**
 * Stream parts of the AI SDK → events of the model port. Calls are held back until the turn has ended well: a stream that
 * is cut off in the middle of a call would otherwise hand out half of one.
 */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { TurnEnd, Usage } from '../task/events.ts';
import type { ModelEvent } from './model.ts';

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;
type CallEvent = Extract<ModelEvent, { type: 'call' }>;

/** What a part means: events to hand out, the end of the turn among them, or that the turn went wrong. */
export type Meaning =
  { type: 'events'; events: ModelEvent[]; ended: boolean } | { type: 'failure'; error: unknown };

/** Thrown away with its turn: a retry starts with a new one. */
export class TurnParts {
  readonly #calls: CallEvent[] = [];
  #said = false;
  #left: number;

  /** @param longest characters of an answer, said, thought and asked for, after which it has no end. */
  constructor(longest = Infinity) {
    this.#left = longest;
  }

  /** Takes the next part of the stream. */
  read(part: LanguageModelV3StreamPart): Meaning {
    switch (part.type) {
      case 'text-delta':
        if (part.delta.trim() !== '') this.#said = true;
        return this.#goesOn(part.delta, part.delta === '' ? [] : [{ type: 'text', text: part.delta }]);
      case 'reasoning-delta':
      case 'tool-input-delta':
        return this.#goesOn(part.delta, []);
      case 'tool-call':
        // What the provider runs on its own side is not ours to decide on; we never offer such tools.
        if (part.providerExecuted !== true)
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
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-end':
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

  /** What goes on for longer than any answer is cut off, and its calls with it. */
  #goesOn(delta: string, handedOut: ModelEvent[]): Meaning {
    this.#left -= delta.length;
    return this.#left >= 0
      ? events(handedOut)
      : { type: 'events', events: [...handedOut, ENDLESS], ended: true };
  }

  #finish({ finishReason, usage }: Finish): Meaning {
    // Some providers end a stream that was cut off with a finish of their own making, for which there is no raw reason.
    if (finishReason.unified === 'other' && finishReason.raw === undefined)
      return { type: 'failure', error: new CutOff() };
    if (finishReason.unified === 'error')
      return { type: 'failure', error: new ModelRefusal(finishReason.raw ?? 'error') };
    const finish: ModelEvent = {
      type: 'finish',
      end: endOf(finishReason.unified, { called: this.#calls.length > 0, said: this.#said }),
      usage: usageOf(usage),
    };
    return { type: 'events', events: [...this.#calls, finish], ended: true };
  }
}

/** Its provider has not counted yet. */
const ENDLESS: ModelEvent = {
  type: 'finish',
  end: 'length',
  usage: { inputTokens: 0, outputTokens: 0 },
};

function usageOf({ inputTokens, outputTokens }: Finish['usage']): Usage {
  const cachedInputTokens = inputTokens.cacheRead ?? 0;
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(cachedInputTokens > 0 && { cachedInputTokens }),
  };
}

/** The stream ended before the turn did. */
export class CutOff extends Error {
  override readonly name = 'CutOff';

  constructor() {
    super('the answer was cut off');
  }
}

/** The provider ended the turn for a reason of its own, e.g. a malformed call of the model's. */
export class ModelRefusal extends Error {
  override readonly name = 'ModelRefusal';

  constructor(reason: string) {
    super(`the turn ended with the reason ${JSON.stringify(reason.slice(0, 100))}`);
  }
}

/** Whether there are calls decides between `stop` and `tool-calls`: not every compatible server says it right. */
function endOf(
  unified: Finish['finishReason']['unified'],
  { called, said }: { called: boolean; said: boolean },
): TurnEnd {
  if (unified === 'length' || unified === 'content-filter') return unified;
  if (called) return 'tool-calls';
  return said ? 'stop' : 'empty';
}

/** An empty input is how several providers write a call without arguments. */
function inputOf(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    const input: unknown = JSON.parse(json);
    return input;
  } catch {
    return json;
  }
}

function events(handedOut: ModelEvent[]): Meaning {
  return { type: 'events', events: handedOut, ended: false };
}
