/** `abort_tool_execution`: stop one tool execution and let its task go on. Also the MCP method `tools/abort`. */
import { z } from 'zod';
import { messageOf, ProductError } from '../../shared/errors.ts';
import type { Bridge } from '../bridge.ts';
import type { AbortAnswer } from '../agents/connection.ts';
import * as fields from './fields.ts';
import { defineTool } from './tool.ts';

export const toolId = z
  .string()
  .min(1)
  .max(200)
  .describe('The tool execution, as a status or a result has named it.');

/** R40: the answer over every transport. */
export const abortAnswer = z.object({ success: z.boolean(), message: z.string() });

export const abortTool = defineTool({
  name: 'abort_tool_execution',
  title: 'Abort a tool',
  description: `Stops one running tool execution by its toolId (from check_task_progress_and_status). The task goes on, and its model is told that the tool was stopped. Aborting one that has ended does nothing and says so; one that nobody knows is an error.`,
  input: z.strictObject({ toolId, reason: fields.reason }),
  output: abortAnswer,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  async run({ toolId: id, reason }, call) {
    const structured = await abort(call.bridge, id, reason);
    if (!structured.success && call.bridge.sessions.withTool(id) === undefined)
      throw new ProductError('UNKNOWN_TOOL_EXECUTION', `Not aborted: ${structured.message}`);
    const text = structured.success ? `Aborted: ${structured.message}` : `Not aborted: ${structured.message}`;
    return { structured, text };
  },
});

/** Asks the agent whose tool it is; all agents when no session has shown it here. */
export async function abort(bridge: Bridge, id: string, reason: string | undefined): Promise<AbortAnswer> {
  const session = bridge.sessions.withTool(id);
  const agents = session === undefined ? bridge.registry.all : [session.agent];
  const answers: string[] = [];
  for (const agent of agents) {
    try {
      const answer = await agent.ask((connection) => connection.abortTool(id, reason));
      if (answer?.success === true) return answer;
      answers.push(
        answer?.message ??
          `Agent "${agent.name}" cannot stop a single tool: cancel its task with cancel_running_task.`,
      );
    } catch (error) {
      answers.push(messageOf(error));
    }
  }
  return { success: false, message: answers.join(' ') };
}
