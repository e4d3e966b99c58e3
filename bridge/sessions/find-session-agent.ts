/** Which agent has a session, as the agents themselves tell. */
import type { Task } from '@a2a-js/sdk';
import type { Agent } from '../agents/agent.ts';
import { withTimeoutOr } from '../agents/timeout.ts';

/** An agent that has the session, and the session's newest task. */
export interface SessionAgent {
  agent: Agent;
  taskId: string;
}

/**
 * Asks the agents side by side: the first that knows the session is the one, and nobody waits for the others.
 * @param among how many agents there are: one of several is not waited for as long as an only one
 * @param trouble gathers why others could not say
 */
export async function findSessionAgent(
  sessionId: string,
  agents: readonly Agent[],
  { among, trouble }: { among: number; trouble: string[] },
): Promise<SessionAgent | undefined> {
  const asked = agents.map(async (agent) => {
    const asking = withTimeoutOr(among, newestTask(agent, sessionId));
    const task = await asking.catch((error: unknown) => {
      trouble.push(agent.failed(error).message);
    });
    if (task === undefined) throw new Error('not one of its sessions');
    return { agent, taskId: task.id };
  });
  return Promise.any(asked).catch(() => undefined);
}

/** @throws ProductError when the agent cannot be asked */
export async function newestTask(agent: Agent, sessionId: string): Promise<Task | undefined> {
  const tasks = await agent.ask((connection) => connection.list({ sessionId }, 1));
  // An agent that ignores the filter must not have another session's task taken for this one's.
  return tasks?.find((task) => task.contextId === sessionId);
}
