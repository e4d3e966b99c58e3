/** Agents and sessions as a command works with them: what the MCP tools use, for as long as one command takes. */
import { configuredAgents } from '../agents/configured-agents.ts';
import type { Registry } from '../agents/registry.ts';
import { Delegations } from '../sessions/delegations.ts';
import { Sessions } from '../sessions/sessions.ts';
import { BridgeDatabase } from '../state/database.ts';
import { StoredClaims } from '../state/decision-claims.ts';
import { Outbox } from '../state/outbox.ts';
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
 * @throws ProductError CONFIGURATION when the state directory cannot be used; STORAGE when its database cannot
 */
export async function openDesk({ settings, places, env, log }: Run<CommonOptions>): Promise<Desk> {
  const registry = configuredAgents(settings, env, places.serverScript);
  const database = await BridgeDatabase.open(settings.stateDir);
  const outbox = new Outbox(database);
  const claims = new StoredClaims(database);
  const sessions = new Sessions(registry, outbox, claims);
  const delegations = new Delegations({ registry, outbox, sessions, log });
  return {
    registry,
    sessions,
    delegations,
    async close() {
      await delegations.settled();
      sessions.close();
      database.close();
    },
  };
}
