/** Stops one tool execution of any agent. */
import type { AbortAnswer } from '../../shared/protocol/abort-answer.ts';
import type { ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { ellipsize } from '../../shared/text/shortened-text.ts';
import type { Agent } from '../agents/agent.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import { withTimeoutIfSeveral } from '../agents/timeout.ts';
import type { LiveSessions } from './live-sessions.ts';

/** Matches a valid id. The id becomes one segment of a URL path, so it must not contain a separator. */
const TOOL_ID = /^[A-Za-z0-9][A-Za-z0-9._:~-]{0,199}$/;

interface KnownAgents {
  registry: AgentRegistry;
  live: LiveSessions;
}

interface AbortContext extends KnownAgents {
  log?: Logger;
  /** Called with the error of each agent that cannot be asked. The answer contains only the message of this error. */
  onFailure?: (error: ProductError) => void;
}

interface ToolToAbort {
  toolId: string;
  /**
   * The name of the agent that runs the tool. If absent, the bridge asks the agent of the session with this tool
   * execution. If no session in memory has it, the bridge asks all agents.
   */
  agent?: string | undefined;
  reason?: string | undefined;
}

/**
 * Aborts a tool execution. R41: an unknown or ended tool execution gets the answer `success: false` with the reason.
 * The request goes to the agent that owns the tool execution. If the owner is unknown and the tool call names no agent,
 * all agents are asked in parallel. The first agent that stops the tool execution determines the reply. An invalid id
 * is sent to no agent.
 * @throws ProductError UNKNOWN_AGENT for an unknown agent name
 */
export async function abortToolExecution(
  agents: AbortContext,
  { reason = 'aborted over MCP', ...request }: ToolToAbort,
): Promise<AbortAnswer> {
  const answer = await answerOf(agents, { ...request, reason });
  const { success, message } = answer;
  agents.log?.info(
    { toolId: request.toolId.slice(0, 200), reason, success, message },
    'the outcome of a request to abort a tool',
  );
  return answer;
}

async function answerOf(
  { registry, live, onFailure }: AbortContext,
  { toolId: id, agent: name, reason }: ToolToAbort & { reason: string },
): Promise<AbortAnswer> {
  if (!TOOL_ID.test(id)) {
    return {
      success: false,
      message: `${shownId(id)} is not the id of a tool execution. check_task_progress_and_status names those that run.`,
    };
  }
  const named = registry.named(name);
  const session = live.withTool(id, named?.name) ?? live.withTool(id);
  if (named !== undefined && session !== undefined && session.agent !== named) {
    return {
      success: false,
      message: `${id} is a tool of agent "${session.agent.name}" (session ${session.id}), not of "${named.name}". Leave out agent.`,
    };
  }
  const owner = named ?? session?.agent;
  const agents = owner === undefined ? registry.all : [owner];
  const asked = agents.map((agent) =>
    abortAt(agent, { toolId: id, reason, asked: agents.length, onFailure }),
  );
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

interface AgentRequest {
  toolId: string;
  reason: string;
  /** The number of agents that are asked. */
  asked: number;
  onFailure: AbortContext['onFailure'];
}

/**
 * Asks one agent to abort. If several agents are asked, the time to connect is limited. The abort itself may take as
 * long as the tool's grace period.
 */
async function abortAt(
  agent: Agent,
  { toolId: id, reason, asked, onFailure }: AgentRequest,
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
    const failure = agent.failed(error);
    onFailure?.(failure);
    return { success: false, message: failure.message };
  }
}

function shownId(id: string): string {
  return id === '' ? 'An empty text' : JSON.stringify(ellipsize(id, 80));
}
