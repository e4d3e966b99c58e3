/** Tests a model: requests an answer and waits for its first event. */
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Model } from '../models/model.ts';

/** The time limit in milliseconds. A model that thinks first may need this time for its first token. */
const LIMIT_MS = 30_000;

export type Trial = { type: 'answers'; ms: number } | { type: 'silent'; problem: string };

/** Ends the request after the first event, so that it costs few tokens. @param limitMs in milliseconds */
export async function tryModel(model: Model, limitMs = LIMIT_MS): Promise<Trial> {
  const before = performance.now();
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  try {
    const request = {
      instructions: '',
      conversation: [{ role: 'user' as const, text: 'Answer with one word: ready' }],
      exchanges: [],
      tools: [],
      signal: limit.signal,
    };
    // `break` ends the iteration, which cancels the request.
    for await (const _ of model.stream(request)) break;
    return { type: 'answers', ms: performance.now() - before };
  } catch (error) {
    const problem = limit.signal.aborted ? `no answer within ${limitMs / 1000} s.` : messageOf(error);
    return { type: 'silent', problem };
  } finally {
    clearTimeout(timer);
  }
}
