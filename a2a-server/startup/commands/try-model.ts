import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Model } from '../../models/model.ts';
import { parseModelId } from '../../models/model-settings.ts';
import { needsResponsesApi } from '../../models/provider-requests/needs-responses-api.ts';
import { refusedKeyOrModel } from '../../models/provider-failure.ts';

export const TRIAL_LIMIT_MS = 10_000;
/** The length limit of the model's response, in tokens. OpenAI's Responses API accepts no smaller limit. */
const MIN_RESPONSE_TOKENS = 16;

export type ModelTrial =
  | { type: 'answers'; ms: number }
  /** The model sent nothing within the time limit. */
  | { type: 'slow'; limitMs: number }
  | { type: 'failed'; problem: string; cause: FailureCause };

/**
 * `key` and `model` mean that the provider refused the key or the model. `connection` means that there is no connection
 * to the provider.
 */
type FailureCause = 'key' | 'model' | 'connection' | 'other';

/** The request offers one tool, because a model that accepts no tools cannot be an agent. */
const TOOL = {
  name: 'finish',
  description: 'Ends the work',
  inputSchema: { type: 'object' as const, properties: {}, additionalProperties: false },
};

/**
 * Tests a model. Requests the shortest answer, and ends the request after the first event.
 * @param limitMs in milliseconds
 */
export async function tryModel(model: Model, limitMs = TRIAL_LIMIT_MS): Promise<ModelTrial> {
  const before = performance.now();
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  try {
    const request = {
      instructions: '',
      conversation: [{ role: 'user' as const, text: 'Answer with one word: ready' }],
      exchanges: [],
      tools: [TOOL],
      maxOutputTokens: leastAnswer(model.id),
      signal: limit.signal,
    };
    // `break` ends the iteration, which cancels the request.
    for await (const _ of model.stream(request)) break;
    return { type: 'answers', ms: performance.now() - before };
  } catch (error) {
    return limit.signal.aborted
      ? { type: 'slow', limitMs }
      : { type: 'failed', problem: errorMessageOf(error), cause: causeOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

function causeOf(error: unknown): FailureCause {
  const refused = refusedKeyOrModel(error);
  if (refused !== undefined) return refused;
  const unconnected = error instanceof ProductError && error.retryable && error.facts['status'] === undefined;
  return unconnected ? 'connection' : 'other';
}

/** Returns the smallest output limit that the provider accepts, in tokens. */
function leastAnswer(id: string): number {
  const named = parseModelId(id);
  return named?.provider === 'openai' && needsResponsesApi(named.model) ? MIN_RESPONSE_TOKENS : 1;
}
