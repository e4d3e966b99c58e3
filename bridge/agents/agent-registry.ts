/** The configured agents, by name. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Agent } from './agent.ts';

export class AgentRegistry {
  readonly #agents: ReadonlyMap<string, Agent>;
  readonly #first: Agent;

  /** @param first the default agent */
  constructor(first: Agent, ...others: readonly Agent[]) {
    this.#first = first;
    this.#agents = new Map([first, ...others].map((agent) => [agent.name, agent]));
  }

  get all(): readonly Agent[] {
    return [...this.#agents.values()];
  }

  /**
   * Returns the agent with this name. Without a name, returns the default agent.
   * @throws ProductError UNKNOWN_AGENT that lists the names of the agents
   */
  pick(name: string | undefined): Agent {
    if (name === undefined) return this.#first;
    const agent = this.#agents.get(name);
    if (agent !== undefined) return agent;
    const names = [...this.#agents.keys()].map((each) => `"${each}"`).join(', ');
    throw new ProductError('UNKNOWN_AGENT', `There is no agent "${name}". The agents are: ${names}.`, {
      facts: { agent: name },
    });
  }

  /** Returns the agent with this name. Returns undefined if no name is given. @throws ProductError UNKNOWN_AGENT */
  named(name: string | undefined): Agent | undefined {
    return name === undefined ? undefined : this.pick(name);
  }

  find(name: string): Agent | undefined {
    return this.#agents.get(name);
  }
}
