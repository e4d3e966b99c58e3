/** Finds the agents that have a session. */
import type { Task } from '@a2a-js/sdk';
import type { Agent } from '../agents/agent.ts';
import { askUnlessLate } from '../agents/timeout.ts';
import { firstDigitsOfUuid } from './id-prefix.ts';

interface SessionAgent {
  agent: Agent;
  taskId: string;
}

/**
 * Asks all agents in parallel. Returns the agents that know the session. Agents choose ids, so several agents may use
 * the same id. It is very unlikely that two agents create the same random UUID. So for a UUID, only the first agent
 * that knows the session is returned. An agent that hangs then delays nothing.
 * @param among the number of agents in the whole search. If it is more than one, the time for each agent is limited.
 * @param failures receives the errors of agents
 */
export async function findSessionAgents(
  sessionId: string,
  agents: readonly Agent[],
  { among, failures = [] }: { among: number; failures?: string[] },
): Promise<readonly SessionAgent[]> {
  const asked = agents.map(async (agent) => {
    const asking = askUnlessLate(among, agent, () => readNewestTask(agent, sessionId));
    const task = await asking.catch((error: unknown) => {
      failures.push(agent.failed(error).message);
    });
    if (task === undefined) throw new Error('not one of its sessions');
    return { agent, taskId: task.id };
  });
  if (firstDigitsOfUuid(sessionId) !== undefined)
    return Promise.any(asked).then(
      (first) => [first],
      () => [],
    );
  const answers = await Promise.allSettled(asked);
  return answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}

/**
 * Returns the newest task of a session.
 * @throws ProductError if the agent cannot be reached
 */
export async function readNewestTask(agent: Agent, sessionId: string): Promise<Task | undefined> {
  const listed = await agent.ask((connection) => connection.list({ sessionId }, 1));
  // An agent may ignore the filter and return a task of another session. So the session id is compared.
  return listed?.tasks.find((task) => task.contextId === sessionId);
}
