/** Subscribes to changes of a tool list (MCP 2026-07-28, Subscriptions). Older servers announce them unasked. */
import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { delay } from '../../shared/runtime/timeout.ts';

/** The delay before a lost subscription is opened again, in milliseconds. */
const AGAIN_MS = 5_000;

export interface ListenOptions {
  clock: Clock;
  log: Logger;
  onListChanged: () => void;
  /** Ends the subscription. */
  signal: AbortSignal;
}

/**
 * Listens until the signal aborts. A lost subscription is opened again, and `onListChanged` is called, because a change may
 * have been missed. A server that refuses the first subscription is not asked again. Never rejects.
 */
export async function listenForTools(
  client: Pick<Client, 'listen'>,
  { clock, log, onListChanged, signal }: ListenOptions,
): Promise<void> {
  for (let opened = false; !signal.aborted;) {
    const subscription: McpSubscription | undefined = await client
      .listen({ toolsListChanged: true }, { signal })
      .catch(() => undefined);
    if (subscription === undefined && !opened) {
      log.debug('the MCP server does not announce changes of its tools');
      return;
    }
    if (subscription !== undefined && opened) onListChanged();
    opened = true;
    await subscription?.closed;
    await delay(clock, AGAIN_MS, signal).catch(() => undefined);
  }
}
