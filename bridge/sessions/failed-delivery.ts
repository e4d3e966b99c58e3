/** Decides what happens to the outbox entry of a message whose delivery has failed. Pure. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { MessageInFlight } from './messages-in-flight.ts';

/**
 * `postpone`: the outcome is not final, so the entry stays and the same message is sent again (R99). `drop`: the client
 * learns the failure from its call. `record`: the client already has the id, so the entry stores the failure.
 */
export type FailedDelivery = 'postpone' | 'drop' | 'record';

/** @param error from `Session.deliver`. The fact `arrived` says whether the agent has the message. */
export function failedDelivery(
  error: unknown,
  { origin, promised, cancel }: Pick<MessageInFlight, 'origin' | 'promised' | 'cancel'>,
): FailedDelivery {
  const known = error instanceof ProductError ? error : undefined;
  const arrived = known?.facts['arrived'];
  const adopted = origin === 'ended-bridge';
  if (arrived === 'unresolved' || (adopted && known?.retryable === true)) return 'postpone';
  // The ended bridge of an adopted message may have delivered it, so its cancel does not settle the outcome.
  if (cancel !== null && arrived === 'no' && !adopted) return 'drop';
  return arrived === 'unknown' || promised ? 'record' : 'drop';
}
