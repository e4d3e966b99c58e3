/** Converts session states to the names in results of the bridge's MCP tools. Pure. */
import { z } from 'zod';
import { SESSION_STATES } from '../../shared/protocol/session-states.ts';
import type { SessionStateName } from './observation.ts';

export const mcpSessionStateSchema = z.enum(SESSION_STATES);
type McpSessionState = z.infer<typeof mcpSessionStateSchema>;

const MCP_STATES: Readonly<Record<SessionStateName, McpSessionState>> = {
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

export function toMcpSessionState(state: SessionStateName): McpSessionState {
  return MCP_STATES[state];
}
