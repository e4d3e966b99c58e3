/** Sends a request to several agents in parallel. If one agent fails, the answers of the others are still returned. */
import type { Agent } from './agent.ts';
import { withTimeoutOr } from './timeout.ts';

export interface Answers<T> {
  /** The answers by agent name. */
  answers: ReadonlyMap<string, T>;
  unreachable: readonly { agent: string; message: string }[];
}

export async function askEach<T>(
  agents: readonly Agent[],
  ask: (agent: Agent) => Promise<T>,
): Promise<Answers<T>> {
  const answers = new Map<string, T>();
  const unreachable: { agent: string; message: string }[] = [];
  await Promise.all(
    agents.map(async (agent) => {
      try {
        answers.set(agent.name, await withTimeoutOr(agents.length, ask(agent)));
      } catch (error) {
        unreachable.push({ agent: agent.name, message: agent.failed(error).message });
      }
    }),
  );
  return { answers, unreachable };
}
