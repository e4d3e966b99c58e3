import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import { RETRY_AFTER } from '../models/model.ts';
import type { ModelFailure } from '../task/model-outage.ts';

/** Converts an error of a model into the failure that the core judges. */
export function failureOf(error: unknown): ModelFailure {
  const message = messageOf(error);
  if (!(error instanceof ProductError)) return { message, passing: false, waitMs: 0 };
  return { message, passing: error.retryable, waitMs: Number(error.facts[RETRY_AFTER] ?? 0) };
}
