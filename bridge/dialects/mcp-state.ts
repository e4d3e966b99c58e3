/** The task states of MCP, and their mapping from A2A. Pure. */
import { z } from 'zod';
import type { TaskStateName } from './observation.ts';

export const mcpStateSchema = z.enum([
  'working',
  'input_required',
  'completed',
  'cancelled',
  'failed',
  'unknown',
]);
export type McpState = z.infer<typeof mcpStateSchema>;

const MCP_STATES: Readonly<Record<TaskStateName, McpState>> = {
  submitted: 'working',
  working: 'working',
  'input-required': 'input_required',
  'auth-required': 'input_required',
  completed: 'completed',
  canceled: 'cancelled',
  failed: 'failed',
  rejected: 'failed',
  unknown: 'unknown',
};

export function toMcpState(state: TaskStateName): McpState {
  return MCP_STATES[state];
}
