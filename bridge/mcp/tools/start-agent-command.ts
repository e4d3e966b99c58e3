/**
 * Starts the task that runs an agent's command. If an identical tool call has already started a task, joins that task.
 */
import { agentCommandText, type CommandCall } from '../../../shared/protocol/agent-command.ts';
import type { TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import type { Agent } from '../../agents/agent.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { ToolCallContext } from '../tool/tool.ts';
import type { InterimResult } from '../tool/tool-result.ts';
import { defaultWorkspace } from './tool-call-workspaces.ts';
import { joinIdenticalTask, startTask, type StartedTask } from './start-or-join-task.ts';
import { askStartPermission, checkCallWorkspace } from './ask-task-start-permission.ts';
import { withDefaultWorkspace, withMappedWorkspace } from './settings-for-agent.ts';

interface WantedCommand {
  agent: Agent;
  command: CommandCall;
  going?: Session | undefined;
  workspace: string | undefined;
}

/**
 * @returns the task, or a form if a person must first allow the workspace
 * @throws ProductError
 */
export async function startAgentCommand(
  call: ToolCallContext,
  { agent, command, going, workspace }: WantedCommand,
): Promise<StartedTask | { interim: InterimResult }> {
  const placed = await checkCallWorkspace(call, workspace);
  const wanted: TaskSettings = placed === undefined ? {} : { workspace: placed.path };
  const settings =
    going === undefined
      ? await withDefaultWorkspace(agent, wanted, await defaultWorkspace(call))
      : withMappedWorkspace(agent, wanted);
  const task = agentCommandText(command);
  const beginning = { agent, text: task, command, settings, going };
  const again = await joinIdenticalTask(call, beginning);
  if (again !== undefined) return again;
  const interim = await askStartPermission(call, { task, placed, unasked: false });
  if (interim !== undefined) return { interim };
  await going?.refresh();
  return startTask(call, beginning);
}
