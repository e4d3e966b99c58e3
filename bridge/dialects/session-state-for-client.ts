/** Converts session states to the names that clients get, e.g. in results of the bridge's MCP tools. Pure. */
import { z } from 'zod';
import { SESSION_STATES } from '../../shared/protocol/session-states.ts';
import type { SessionStateName } from './observation.ts';

export const clientSessionStateSchema = z.enum(SESSION_STATES);
type ClientSessionState = z.infer<typeof clientSessionStateSchema>;

const CLIENT_STATES: Readonly<Record<SessionStateName, ClientSessionState>> = {
  submitted: 'working',
  working: 'working',
  'input-required': 'input_required',
  'auth-required': 'input_required',
  completed: 'completed',
  canceled: 'cancelled',
  failed: 'failed',
  rejected: 'rejected',
  unknown: 'unknown',
  'not-delivered': 'not_delivered',
  'unknown-to-agent': 'unknown_to_agent',
};

export function toClientSessionState(state: SessionStateName): ClientSessionState {
  return CLIENT_STATES[state];
}
