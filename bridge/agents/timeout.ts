/** Limits how long the bridge waits for an agent. */
import type { Agent } from './agent.ts';

/**
 * Returns the result of `work`, if the work finishes in time. A timeout does not stop the work, because other callers
 * may wait for it.
 * @throws TimeoutError when the time is over, or any error of the work before that
 */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // The work may still fail after the timeout. Without this handler, that error would be an unhandled rejection.
    work.catch(() => undefined);
  }
}

/**
 * The time limit in milliseconds for each agent, if the bridge asks several agents. There is no such limit for a single
 * agent.
 */
const TIMEOUT_PER_AGENT_MS = 5_000;

/**
 * Limits the time of a request, if the bridge asks several agents in parallel.
 * @param agentCount the number of agents that the bridge asks
 * @throws TimeoutError if the agent is too slow
 */
export function withTimeoutIfSeveral<T>(agentCount: number, work: Promise<T>): Promise<T> {
  return agentCount > 1 ? withTimeout(TIMEOUT_PER_AGENT_MS, work) : work;
}

/** The agents that have not answered a step of a search in time, and whose answer may still arrive. */
const LATE_AGENTS = new WeakSet<Agent>();

/**
 * Asks one of several agents in a search. A search may have several steps. So while an agent is late with an answer, it
 * is not asked again, and the person waits for it only once.
 * @throws TimeoutError if the agent is too slow
 */
export async function askUnlessLate<T>(agentCount: number, agent: Agent, ask: () => Promise<T>): Promise<T> {
  if (agentCount > 1 && LATE_AGENTS.has(agent)) throw timeoutError();
  const work = ask();
  try {
    return await withTimeoutIfSeveral(agentCount, work);
  } catch (error) {
    LATE_AGENTS.add(agent);
    const forget = (): boolean => LATE_AGENTS.delete(agent);
    work.then(forget, forget);
    throw error;
  }
}

function timeoutError(): DOMException {
  return new DOMException('It took too long', 'TimeoutError');
}
