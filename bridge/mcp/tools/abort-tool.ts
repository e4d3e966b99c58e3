/**
 * The MCP tool `abort_tool_execution` and the MCP method `tools/abort`: stop one tool execution. The task continues.
 */
import { z } from 'zod';
import { abortAnswerSchema } from '../../../shared/protocol/abort-answer.ts';
import { abortToolExecution } from '../../sessions/abort-tool-execution.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';

/**
 * The id of a tool execution. Any text is accepted, so that an invalid id gets the same reply as an unknown one. The
 * ids of the local agent look like `run-shell-command-1623456789-abc123def`.
 */
const toolId = z.string().describe("The tool execution's id from a status or a result.");

export const abortRequestParamsSchema = z.looseObject({
  toolId,
  agent: fields.ownerAgentSchema,
  reason: fields.reasonSchema,
});

export const abortTool = defineBridgeTool({
  name: 'abort_tool_execution',
  title: 'Abort a tool',
  description: `Stops one running tool execution by its toolId (from check_task_progress_and_status). The task goes on, and its model learns that the tool was stopped. An ended one does not change.`,
  input: z.strictObject({ toolId, agent: fields.ownerAgentSchema, reason: fields.reasonSchema }),
  output: z.object(abortAnswerSchema.shape),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  async run(input, { bridge }) {
    const structured = await abortToolExecution(bridge, input);
    const text = structured.success ? `Aborted: ${structured.message}` : `Not aborted: ${structured.message}`;
    if (structured.success || bridge.live.withTool(input.toolId) !== undefined) return { structured, text };
    return { structured, text, refusal: { reason: 'UNKNOWN_TOOL_EXECUTION', facts: {} } };
  },
});
