import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import { RETRY_AFTER } from '../models/model.ts';
import type { ModelFailure } from '../task/model-outage.ts';

/** What a model has thrown, as the core judges it. */
export function failureOf(error: unknown): ModelFailure {
  const message = messageOf(error);
  if (!(error instanceof ProductError)) return { message, passing: false, waitMs: 0 };
  return { message, passing: error.retryable, waitMs: Number(error.facts[RETRY_AFTER] ?? 0) };
}
