import type { WaitingResults } from '../state/waiting-results.ts';
import type { MessagesInFlight } from './messages-in-flight.ts';
import type { OutboxWriteQueue } from './outbox-write-queue.ts';
import type { RecordedCancels, RecordedCancelsParts } from './recorded-cancels.ts';
import type { WaitingMcpCalls } from './waiting-calls.ts';

/** What the delivery, the cancel and the handover of delegations share. */
export interface DeliveryParts extends RecordedCancelsParts {
  results: WaitingResults;
  outgoing: MessagesInFlight;
  writes: OutboxWriteQueue;
  calls: WaitingMcpCalls;
  recorded: RecordedCancels;
}
