/** The states of a session that the bridge's tools report, in the spelling of MCP tasks. */
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
