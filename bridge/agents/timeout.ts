/** Limits how long the bridge waits for an agent. */

/**
 * Returns the result of `work`, if the work finishes in time. A timeout does not stop the work, because other callers
 * may wait for it.
 * @throws TimeoutError when the time is over, or any error of the work before that
 */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DOMException('It took too long', 'TimeoutError')), ms);
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
