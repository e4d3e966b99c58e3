/** The names of the MCP tools. The settings may add a prefix to each name, and change nothing else. */
export const TOOL_NAMES = [
  'delegate_task_to_assistant',
  'approve_or_deny_pending_action',
  'wait_for_task',
  'check_task_progress_and_status',
  'cancel_running_task',
  'abort_tool_execution',
  'revoke_trust',
  'list_all_active_sessions',
  'quick_consultation_for_second_opinion',
  'run_agent_tool',
  'execute_agent_command',
  'list_available_agent_commands',
  'get_agent_capabilities_and_version',
] as const;
export type ToolName = (typeof TOOL_NAMES)[number];
