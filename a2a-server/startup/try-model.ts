/** Asks a model for the beginning of an answer, to see that it works. */
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Model } from '../models/model.ts';

/** A model that thinks first may need this long for its first token. Milliseconds. */
const LIMIT_MS = 30_000;

export type Trial = { type: 'answers'; ms: number } | { type: 'silent'; problem: string };

/** Ends the request at the first event of the answer, so it costs few tokens. @param limitMs in milliseconds */
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
