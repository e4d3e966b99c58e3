/** Tests a model: requests the shortest answer, and waits for its first event. */
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Model } from '../models/model.ts';
import { parseModelId } from '../models/model-settings.ts';
import { needsResponses } from '../models/needs-responses.ts';
import { refusedPart } from '../models/provider-failure.ts';

/** The time limit of a trial, in milliseconds. */
export const TRIAL_LIMIT_MS = 10_000;
/** The minimum limit that OpenAI's Responses API accepts, in tokens. */
const LEAST_RESPONSE = 16;

export type Trial =
  | { type: 'answers'; ms: number }
  /** No answer within the time limit. */
  | { type: 'slow'; limitMs: number }
  | { type: 'failed'; problem: string; cause: FailureCause };

/**
 * The cause of the failure. `key` and `model`: the provider refused the key or the model. `connection`: there is no
 * connection to the provider.
 */
type FailureCause = 'key' | 'model' | 'connection' | 'other';

/** A tool for the request, because a model that accepts no tools cannot work as an agent. */
const TOOL = {
  name: 'finish',
  description: 'Ends the work',
  inputSchema: { type: 'object' as const, properties: {}, additionalProperties: false },
};

/** Requests one token, and ends the request after the first event. @param limitMs in milliseconds */
export async function tryModel(model: Model, limitMs = TRIAL_LIMIT_MS): Promise<Trial> {
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
      : { type: 'failed', problem: messageOf(error), cause: causeOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

function causeOf(error: unknown): FailureCause {
  const refused = refusedPart(error);
  if (refused !== undefined) return refused;
  const unconnected = error instanceof ProductError && error.retryable && error.facts['status'] === undefined;
  return unconnected ? 'connection' : 'other';
}

/** Returns the limit of the shortest answer, in tokens. */
function leastAnswer(id: string): number {
  const named = parseModelId(id);
  return named?.provider === 'openai' && needsResponses(named.model) ? LEAST_RESPONSE : 1;
}
