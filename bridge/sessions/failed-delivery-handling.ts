/** Decides what happens to the outbox entry of a message that could not be delivered. Pure. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { MessageInFlight } from './messages-in-flight.ts';

/**
 * What happens to the outbox entry. `postpone`: the outcome is not final, so the entry stays, and the same message is
 * sent again. `drop`: the entry is deleted, and the client learns of the failure from its tool call. `record`: the
 * client already has the id, so the entry stores the failure.
 */
type FailedDeliveryHandling = 'postpone' | 'drop' | 'record';

/**
 * Decides what happens to the entry of a failed message. R99: a repeated tool call starts no second task, so a message
 * with an uncertain outcome stays in the outbox.
 * @param error the error of `Session.deliver`. Its fact `arrived` says whether the agent has the message.
 */
export function failedDeliveryHandling(
  error: unknown,
  { origin, promised, cancel }: Pick<MessageInFlight, 'origin' | 'promised' | 'cancel'>,
): FailedDeliveryHandling {
  const known = error instanceof ProductError ? error : undefined;
  const arrived = known?.facts['arrived'];
  const orphaned = origin === 'ended-bridge';
  if (arrived === 'unresolved' || (orphaned && known?.retryable === true)) return 'postpone';
  // An ended bridge or an earlier attempt may have delivered the message. So a cancel alone does not delete its entry.
  if (cancel !== null && arrived === 'no' && !orphaned) return 'drop';
  return arrived === 'unknown' || promised ? 'record' : 'drop';
}
