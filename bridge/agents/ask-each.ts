/** Sends a request to several agents in parallel. If one agent fails, the answers of the others are still returned. */
import type { ErrorReason } from '../../shared/runtime/errors.ts';
import type { Agent } from './agent.ts';
import { askUnlessLate } from './timeout.ts';

interface AnswersByAgent<T> {
  answers: ReadonlyMap<string, T>;
  unreachable: readonly AgentFailure[];
}

/** Why an agent gave no answer. */
export interface AgentFailure {
  agent: string;
  reason: ErrorReason;
  message: string;
}

export async function askEachAgent<T>(
  agents: readonly Agent[],
  ask: (agent: Agent) => Promise<T>,
): Promise<AnswersByAgent<T>> {
  const answers = new Map<string, T>();
  const unreachable: AgentFailure[] = [];
  await Promise.all(
    agents.map(async (agent) => {
      try {
        answers.set(agent.name, await askUnlessLate(agents.length, agent, () => ask(agent)));
      } catch (error) {
        const { reason, message } = agent.failed(error);
        unreachable.push({ agent: agent.name, reason, message });
      }
    }),
  );
  return { answers, unreachable };
}
