/**
 * The MCP tool `abort_tool_execution` and the MCP method `tools/abort`: stop one tool execution. The task continues.
 */
import { z } from 'zod';
import { type AbortAnswer, abortAnswerSchema } from '../../../shared/protocol/abort-answer.ts';
import type { Agent } from '../../agents/agent.ts';
import { withTimeoutIfSeveral } from '../../agents/timeout.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { ellipsize } from '../../../shared/text/capped-text.ts';
import type { BridgeContext } from '../bridge-context.ts';
import * as fields from '../tool/input-fields.ts';
import { defineTool } from '../tool/define-tool.ts';

/**
 * The id of a tool execution. Any text is accepted, so that an invalid id gets the same reply as an unknown one. The
 * ids of the local agent look like `run-shell-command-1623456789-abc123def`.
 */
const toolId = z.string().describe("The tool execution's id from a status or a result.");

/** Matches a valid id. The id becomes one segment of a URL path, so it must not contain a separator. */
const TOOL_ID = /^[A-Za-z0-9][A-Za-z0-9._:~-]{0,199}$/;

export const abortParamsSchema = z.looseObject({
  toolId,
  agent: fields.ownerAgentSchema,
  reason: fields.reasonSchema,
});
type AbortRequest = Pick<z.output<typeof abortParamsSchema>, 'toolId' | 'agent' | 'reason'>;

export const abortTool = defineTool({
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

/**
 * Aborts a tool execution. R41: an unknown or ended tool execution gets the answer `success: false` with the reason.
 * The request goes to the agent that owns the tool execution. If the owner is unknown and the tool call names no agent,
 * all agents are asked in parallel. The first agent that stops it determines the reply. An invalid id is sent to no
 * agent.
 * @throws ProductError UNKNOWN_AGENT for an unknown agent name
 */
export async function abortToolExecution(
  bridge: Pick<BridgeContext, 'registry' | 'live'> & { log?: Logger },
  { reason = 'aborted over MCP', ...request }: AbortRequest,
): Promise<AbortAnswer> {
  const answer = await answerOf(bridge, { ...request, reason });
  const { success, message } = answer;
  bridge.log?.info(
    { toolId: request.toolId.slice(0, 200), reason, success, message },
    'the outcome of a request to abort a tool',
  );
  return answer;
}

async function answerOf(
  { registry, live }: Pick<BridgeContext, 'registry' | 'live'>,
  { toolId: id, agent: name, reason }: AbortRequest & { reason: string },
): Promise<AbortAnswer> {
  if (!TOOL_ID.test(id)) {
    return {
      success: false,
      message: `${shown(id)} is not the id of a tool execution. check_task_progress_and_status names those that run.`,
    };
  }
  const named = registry.named(name);
  const session = live.withTool(id);
  if (named !== undefined && session !== undefined && session.agent !== named) {
    return {
      success: false,
      message: `${id} is a tool of agent "${session.agent.name}" (session ${session.id}), not of "${named.name}". Leave out agent.`,
    };
  }
  const owner = named ?? session?.agent;
  const agents = owner === undefined ? registry.all : [owner];
  const asked = agents.map((agent) => abortAt(agent, { toolId: id, reason, asked: agents.length }));
  // The first success ends the wait, so that a slow agent does not delay the reply.
  const stopped = await Promise.any(
    asked.map(async (each) => {
      const answer = await each;
      if (!answer.success) throw new Error('not stopped there');
      return answer;
    }),
  ).catch(() => undefined);
  if (stopped !== undefined) return stopped;
  const messages = (await Promise.all(asked)).map(({ message }) => message);
  return { success: false, message: messages.join(' ') };
}

/**
 * Asks one agent to abort. If several agents are asked, the time to connect is limited. The abort itself may take as
 * long as the tool's grace period.
 */
async function abortAt(
  agent: Agent,
  { toolId: id, reason, asked }: { toolId: string; reason: string; asked: number },
): Promise<AbortAnswer> {
  try {
    await withTimeoutIfSeveral(asked, agent.connect());
    const answer = await agent.ask((connection) => connection.abortTool(id, reason));
    if (answer === null) {
      return {
        success: false,
        message: `Agent "${agent.name}" cannot stop a single tool: cancel its task with cancel_running_task.`,
      };
    }
    return asked > 1 ? { ...answer, message: `Agent "${agent.name}": ${answer.message}` } : answer;
  } catch (error) {
    return { success: false, message: agent.failed(error).message };
  }
}

function shown(id: string): string {
  return id === '' ? 'An empty text' : JSON.stringify(ellipsize(id, 80));
}
