/** Agents and sessions as a command works with them: what the MCP tools use, for as long as one command takes. */
import { prepareStateDirectory } from '../../shared/state-directory.ts';
import { configuredAgents } from '../agents/configured-agents.ts';
import type { Registry } from '../agents/registry.ts';
import { outboxDirectory } from '../outbox/orphans.ts';
import { Outbox } from '../outbox/outbox.ts';
import { ClaimsDirectory, claimsDirectory } from '../sessions/decision-claims.ts';
import { Delegations } from '../sessions/delegations.ts';
import { Sessions } from '../sessions/sessions.ts';
import type { CommonOptions, Run } from './run.ts';

export interface Desk {
  registry: Registry;
  sessions: Sessions;
  delegations: Delegations;
  /** Lets go of the agents once what is to be written down is. Tasks are not touched. */
  close(): Promise<void>;
}

/**
 * What earlier bridges left half done is left to the next bridge, which stays long enough to finish it, unless a command
 * names a session that is still on its way.
 * @throws ProductError CONFIGURATION when the state directory cannot be used
 */
export async function openDesk({ settings, places, env, log }: Run<CommonOptions>): Promise<Desk> {
  await prepareStateDirectory(settings.stateDir);
  const registry = configuredAgents(settings, env, places.serverScript);
  const outbox = await Outbox.at(outboxDirectory(settings.stateDir));
  const claims = await ClaimsDirectory.at(claimsDirectory(settings.stateDir));
  const sessions = new Sessions(registry, outbox, claims);
  const delegations = new Delegations({ registry, outbox, sessions, log });
  return {
    registry,
    sessions,
    delegations,
    async close() {
      await delegations.settled();
      sessions.close();
    },
  };
}
