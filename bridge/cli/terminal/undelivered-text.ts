/** Explains to a person at a terminal why a message is not delivered. Pure. */
import { problemMessage, type SessionState } from '../../sessions/session-state.ts';

/**
 * Returns why the message is not delivered, or undefined. A command ends after this text, so it does not try again: the
 * time of the next try would be wrong.
 */
export function undeliveredText(state: SessionState, sessionId: string): string | undefined {
  if (state.type !== 'not-delivered' || state.delivery.type !== 'retrying') return problemMessage(state);
  return `It is not delivered yet: ${state.delivery.reason} This command does not try again, but the message is kept. A running bridge delivers it, or: mcp-a2a-bridge watch ${sessionId}`;
}
