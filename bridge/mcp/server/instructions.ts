/**
 * Returns the server's instructions for the model of the MCP client. Clients cut them at 2 KB. At first, a client may
 * show the model only these instructions, and no tools.
 */
import type { ApprovalMode } from '../../settings/approval-mode.ts';
import { decideHintForModel } from '../reports/human-only-guidance.ts';

export function serverInstructions(approvals: ApprovalMode): string {
  return `Hands work to another agent (A2A), which works on its own, asks before risky steps, and keeps its tasks through restarts.

- delegate_task_to_assistant starts a task, or goes on with a session. It returns the result, or pending actions, or a sessionId when it takes longer.
- State input_required: an action waits for the person. ${decideHintForModel(approvals)} Never decide for them. revoke_trust takes trust back.
- State working: wait_for_task waits on, check_task_progress_and_status looks, cancel_running_task ends it, abort_tool_execution stops one tool. Do not delegate the same task again: nothing is lost.
- list_all_active_sessions finds sessions again, also after a restart.
- quick_consultation_for_second_opinion asks one question; nothing is changed.
- run_agent_tool runs one tool of an agent, without its model.
- list_available_agent_commands and execute_agent_command: what an agent does by name, such as putting files back as they were (checkpoint list, checkpoint restore).
- get_agent_capabilities_and_version says which agents there are and whether they answer.`;
}
