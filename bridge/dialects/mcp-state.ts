/** Converts the states of a session to the names of MCP task states. Pure. */
import { z } from 'zod';
import { SESSION_STATES } from '../../shared/protocol/session-states.ts';
import type { SessionStateName } from './observation.ts';

export const mcpStateSchema = z.enum(SESSION_STATES);
type McpState = z.infer<typeof mcpStateSchema>;

const MCP_STATES: Readonly<Record<SessionStateName, McpState>> = {
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

export function toMcpState(state: SessionStateName): McpState {
  return MCP_STATES[state];
}
