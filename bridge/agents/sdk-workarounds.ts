/** Works around two defects of the A2A SDK: it empties events that it cannot read, and it loses chunks of artifacts. */
import type { AgentCard, StreamResponse } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';

/**
 * Yields the events of the response to a message. Omits empty events: the SDK empties each event that it cannot read.
 * Such an event has a kind that a later version of A2A defines, or it is a refusal. (Over HTTP+JSON, an agent of the Go
 * SDK sends a refusal as an event.)
 * @throws Error if all events are empty. The agent has probably refused the message then, but it may also have accepted
 * it.
 */
export async function* readableEvents(
  events: AsyncIterable<StreamResponse>,
): AsyncGenerator<StreamResponse, void, undefined> {
  let found: 'nothing' | 'empty events' | 'readable events' = 'nothing';
  for await (const event of events) {
    if (event.payload === undefined) {
      if (found === 'nothing') found = 'empty events';
      continue;
    }
    found = 'readable events';
    yield event;
  }
  if (found === 'empty events')
    throw new Error(
      'it sent neither a task nor a message; it has probably refused the message, and the reason is in its log',
    );
}

/**
 * Returns true if the SDK loses chunks of artifacts. Over HTTP+JSON of A2A 0.3, it drops the field `append`, so that each
 * chunk replaces the ones before. The bridge then fetches the task instead.
 */
export function losesChunks({ transport: { protocolName, protocolVersion } }: Client): boolean {
  return protocolName === 'HTTP+JSON' && protocolVersion.startsWith('0.');
}

/** Returns a copy of the card without streaming. With this card, the SDK requests no streams. */
export function withoutStreaming(card: AgentCard): AgentCard {
  return { ...card, capabilities: { extensions: [], ...card.capabilities, streaming: false } };
}
