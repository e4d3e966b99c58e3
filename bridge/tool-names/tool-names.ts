/** The names of the MCP tools. The settings can only add a prefix to each name. */
export const MODEL_TOOL_NAMES = [
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

/**
 * The tools that the approval card calls. Clients that show the card hide these tools from the model. Other clients do
 * not receive them.
 */
const CARD_TOOL_NAMES = ['get_approval_card_state', 'decide_on_approval_card'] as const;

export type ToolName = (typeof MODEL_TOOL_NAMES)[number] | (typeof CARD_TOOL_NAMES)[number];
/** Returns the name of a tool as this client sees it. */
export type NameOfTool = (tool: ToolName) => string;

const NAMES = new RegExp(`\\b(?:${MODEL_TOOL_NAMES.join('|')})\\b`, 'g');

/** Adds the prefix to every name of a tool in a text. */
export function prefixToolNames(text: string, prefix: string): string {
  return prefix === '' ? text : text.replaceAll(NAMES, (name) => `${prefix}${name}`);
}
