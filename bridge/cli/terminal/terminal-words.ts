/** Rewrites the bridge's sentences for a terminal: names commands instead of MCP tools. Pure. */
import { MODEL_TOOL_NAMES } from '../../tool-names/tool-names.ts';

const COMMANDS: Readonly<Record<(typeof MODEL_TOOL_NAMES)[number], string>> = {
  delegate_task_to_assistant: 'delegate_task_to_assistant in your MCP client',
  approve_or_deny_pending_action: '"mcp-a2a-bridge approve", "deny", "edit" or "answer"',
  wait_for_task: '"mcp-a2a-bridge watch"',
  check_task_progress_and_status: '"mcp-a2a-bridge watch"',
  cancel_running_task: '"mcp-a2a-bridge cancel"',
  abort_tool_execution: '"mcp-a2a-bridge abort"',
  revoke_trust: '"mcp-a2a-bridge revoke"',
  list_all_active_sessions: '"mcp-a2a-bridge tasks"',
  quick_consultation_for_second_opinion: 'quick_consultation_for_second_opinion in your MCP client',
  run_agent_tool: '"mcp-a2a-bridge command tool"',
  execute_agent_command: '"mcp-a2a-bridge command"',
  list_available_agent_commands: '"mcp-a2a-bridge commands"',
  get_agent_capabilities_and_version: '"mcp-a2a-bridge doctor"',
};

const TOOL_NAME_PATTERN = MODEL_TOOL_NAMES.join('|');
const TOOL_CALL_PATTERN = new RegExp(`\\b(?:${TOOL_NAME_PATTERN})\\b(?: with sessionId "([^"]+)")?`, 'g');

/**
 * Replaces the names of MCP tools with the corresponding commands. If the text says to set a variable where the MCP
 * client starts the bridge, adds "in this shell" as another place.
 * @param text a text that the bridge wrote, never an agent's text
 */
export function inTerminalWords(text: string): string {
  return text
    .replaceAll(TOOL_CALL_PATTERN, (called, session: string | undefined) => {
      const [name = ''] = called.split(' ', 1);
      const command = commandFor(name) ?? name;
      return session === undefined ? command : command.replace(/"$/, ` ${session}"`);
    })
    .replaceAll(' again with the same sessionId', ' again')
    .replaceAll(
      'where the MCP client starts the bridge',
      'in this shell and where the MCP client starts the bridge',
    );
}

/** Says that an agent has not answered, and why. */
export function noAnswerText({ agent, message }: { agent: string; message: string }): string {
  return `No answer from agent "${agent}": ${inTerminalWords(message)}`;
}

function commandFor(name: string): string | undefined {
  const tool = MODEL_TOOL_NAMES.find((each) => each === name);
  return tool === undefined ? undefined : COMMANDS[tool];
}
