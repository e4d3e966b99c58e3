/**
 * Subscribes to changes of a tool list (MCP 2026-07-28, Subscriptions). Servers of older revisions send the changes
 * without a subscription.
 */
import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { delay } from '../runtime/timeout.ts';

const RENEWAL_DELAY_MS = 5_000;

interface ListenForToolsOptions {
  clock: Clock;
  log: Logger;
  onListChanged: () => void;
  signal: AbortSignal;
}

/**
 * Listens until the signal aborts. Never rejects. After it has renewed a lost subscription, calls `onListChanged`,
 * because the client may have missed a change. If the server refuses the first subscription, there is no second
 * attempt.
 */
export async function listenForTools(
  client: Pick<Client, 'listen'>,
  { clock, log, onListChanged, signal }: ListenForToolsOptions,
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
    await delay(clock, RENEWAL_DELAY_MS, signal).catch(() => undefined);
  }
}
