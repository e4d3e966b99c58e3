import { onAbort } from '../../../shared/runtime/abort.ts';
import { type ModelEvent, RETRY_AFTER_FACT } from '../../models/model.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { ModelFailure } from '../../task/model-outage.ts';

/** Yields the model's events until the signal fires, even if the model ignores the signal. */
export async function* modelEventsUntilAborted(
  events: AsyncIterable<ModelEvent>,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  let interrupt: (() => void) | undefined;
  const stopListening = onAbort(signal, () => interrupt?.());
  try {
    while (!signal.aborted) {
      const next = await new Promise<IteratorResult<ModelEvent> | undefined>((resolve, reject) => {
        interrupt = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      });
      if (next === undefined || next.done) return;
      yield next.value;
    }
  } finally {
    stopListening();
    // A model that hangs must not block the task, so the end of its iterator is not awaited.
    void iterator.return?.().then(undefined, () => undefined);
  }
}

export function toModelFailure(error: unknown): ModelFailure {
  const message = errorMessageOf(error);
  if (!(error instanceof ProductError)) return { message, passing: false, waitMs: 0 };
  return { message, passing: error.retryable, waitMs: Number(error.facts[RETRY_AFTER_FACT] ?? 0) };
}
