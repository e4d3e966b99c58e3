import type { Agent } from './agent.ts';
import { withTimeout } from './timeout.ts';

/** An answer is used again for this time, in milliseconds, because clients poll each MCP task about every second. */
const ANSWER_AGE_MS = 5_000;
/** The maximum time of the question in milliseconds, because the reply to a tool call waits for it. */
const TIMEOUT_MS = 2_000;

type AskedAgent = Pick<Agent, 'name' | 'connect'>;

const answers = new WeakMap<AskedAgent, { at: number; problem: Promise<string | undefined> }>();

/**
 * Asks why a task that works makes no progress. An event must be durable before a client sees it. So if the agent cannot
 * write its journal, the stream of the task is silent, and only this request tells the reason.
 * @returns the reason, for a person; undefined if the agent can write, or does not answer
 */
export function fetchJournalProblem(agent: AskedAgent): Promise<string | undefined> {
  const now = performance.now();
  const last = answers.get(agent);
  if (last !== undefined && now - last.at < ANSWER_AGE_MS) return last.problem;
  const problem = askForJournalProblem(agent);
  answers.set(agent, { at: now, problem });
  return problem;
}

async function askForJournalProblem(agent: AskedAgent): Promise<string | undefined> {
  try {
    const asked = agent.connect().then((connection) => connection.isJournalUnreachable());
    if (!(await withTimeout(TIMEOUT_MS, asked))) return undefined;
  } catch {
    // The requests for the task itself report an agent that cannot be reached, or hangs.
    return undefined;
  }
  return `The server of agent "${agent.name}" cannot write its journal, so this task makes no progress. The server's log names the cause. If its disk is full, free some space: the task then goes on by itself.`;
}
