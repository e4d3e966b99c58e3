import { onAbort } from '../../shared/runtime/abort.ts';
import type { ModelEvent } from '../models/model.ts';

/** Yields the model's events until the signal fires, even if the model ignores the signal. */
export async function* untilAborted(
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
    // Not awaited: a model that hangs must not block the task.
    void iterator.return?.().then(undefined, () => undefined);
  }
}
