/** `abort_tool_execution`: stop one tool execution and let its task go on. Also the MCP method `tools/abort`. */
import { z } from 'zod';
import { messageOf } from '../../shared/errors.ts';
import type { AbortAnswer } from '../agents/connection.ts';
import type { Bridge } from '../bridge.ts';
import * as fields from './fields.ts';
import { defineTool } from './tool.ts';

/**
 * Any text: whoever sends what can be no id gets the same kind of answer as for one that nobody knows. Our agent's ids are
 * like `run-shell-command-1623456789-abc123def`.
 */
const toolId = z.string().describe('The tool execution, as a status or a result has named it.');

/** It becomes a part of a URL's path: nothing that could be read as more than one name. */
const TOOL_ID = /^[A-Za-z0-9][A-Za-z0-9._:~-]{0,199}$/;

/** The parameters of `tools/abort`. */
export const abortParams = z.looseObject({ toolId, reason: fields.reason });

/** R40: the answer over every transport. */
export const abortAnswer = z.object({ success: z.boolean(), message: z.string() });

export const abortTool = defineTool({
  name: 'abort_tool_execution',
  title: 'Abort a tool',
  description: `Stops one running tool execution by its toolId (from check_task_progress_and_status). The task goes on, and its model is told that the tool was stopped. Aborting one that has ended does nothing and says so; one that nobody knows is an error.`,
  input: z.strictObject({ toolId, reason: fields.reason }),
  output: abortAnswer,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  async run({ toolId: id, reason }, { bridge }) {
    const structured = await abort(bridge, id, reason);
    const text = structured.success ? `Aborted: ${structured.message}` : `Not aborted: ${structured.message}`;
    if (structured.success || bridge.sessions.withTool(id) !== undefined) return { structured, text };
    return { structured, text, refusal: { reason: 'UNKNOWN_TOOL_EXECUTION', facts: {} } };
  },
});

/** R41: asks the agent whose tool it is; all agents when no session has shown it here. What can be no id is sent nowhere. */
export async function abort(
  bridge: Pick<Bridge, 'registry' | 'sessions'>,
  id: string,
  reason: string | undefined,
): Promise<AbortAnswer> {
  if (!TOOL_ID.test(id)) {
    return {
      success: false,
      message: `${shown(id)} is not the id of a tool execution. check_task_progress_and_status names those that run.`,
    };
  }
  const session = bridge.sessions.withTool(id);
  const agents = session === undefined ? bridge.registry.all : [session.agent];
  const answers: string[] = [];
  for (const agent of agents) {
    const from = agents.length > 1 ? `Agent "${agent.name}": ` : '';
    try {
      const answer = await agent.ask((connection) => connection.abortTool(id, reason));
      if (answer?.success === true) return { ...answer, message: `${from}${answer.message}` };
      answers.push(
        answer === null
          ? `Agent "${agent.name}" cannot stop a single tool: cancel its task with cancel_running_task.`
          : `${from}${answer.message}`,
      );
    } catch (error) {
      answers.push(messageOf(error));
    }
  }
  return { success: false, message: answers.join(' ') };
}

function shown(id: string): string {
  return id === '' ? 'An empty text' : JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id);
}
