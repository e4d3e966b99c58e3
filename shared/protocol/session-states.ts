/** The session states that the bridge's MCP tools report. They have the spelling of MCP tasks. */
export const SESSION_STATES = [
  'not_delivered',
  'working',
  'input_required',
  'completed',
  'cancelled',
  'failed',
  'rejected',
  'unknown_to_agent',
  'unknown',
] as const;
