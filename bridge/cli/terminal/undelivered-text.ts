/** Explains to a person at a terminal why a message is not delivered. Pure. */
import { sessionWord } from './short-ids.ts';
import { sessionProblem, type SessionState } from '../../sessions/session/session-state.ts';

/**
 * Returns why the message is not delivered, or undefined. A command ends after this text, so another bridge makes the
 * next attempt.
 */
export function undeliveredText(state: SessionState, sessionId: string): string | undefined {
  if (state.type !== 'not-delivered' || state.delivery.type !== 'retrying') return sessionProblem(state);
  const { reason, nextTry } = state.delivery;
  const next = nextTry === null ? 'another try is under way' : `the next try is at ${nextTry.toISOString()}`;
  return `It is not delivered yet: ${reason} The message is kept. If a bridge is running, ${next}. Otherwise deliver it with: mcp-a2a-bridge watch ${sessionWord(sessionId)}`;
}
