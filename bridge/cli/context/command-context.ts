/** Agents and sessions as a command works with them: what the MCP tools use, for as long as one command takes. */
import { configuredAgents } from '../../startup/configured-agents.ts';
import type { Registry } from '../../agents/registry.ts';
import { DelegationService } from '../../sessions/delegation-service.ts';
import { Sessions } from '../../sessions/sessions.ts';
import { BridgeDatabase } from '../../state/database.ts';
import { StoredClaims } from '../../state/decision-claims.ts';
import { Outbox } from '../../state/outbox.ts';
import type { CommonOptions, CommandRun } from './run-command.ts';

export interface CommandContext {
  registry: Registry;
  sessions: Sessions;
  delegations: DelegationService;
  /** Lets go of the agents once what is to be written down is. Tasks are not touched. */
  close(): Promise<void>;
}

/**
 * What earlier bridges left half done is left to the next bridge, which stays long enough to finish it, unless a command
 * names a session that is still on its way.
 * @throws ProductError CONFIGURATION when the state directory cannot be used; STORAGE when its database cannot
 */
export async function openCommandContext({
  settings,
  places,
  env,
  log,
}: CommandRun<CommonOptions>): Promise<CommandContext> {
  const registry = configuredAgents(settings, env, places.serverScript);
  const database = await BridgeDatabase.open(settings.stateDir);
  const outbox = new Outbox(database);
  const claims = new StoredClaims(database);
  const sessions = new Sessions(registry, outbox, claims);
  const delegations = new DelegationService({ registry, outbox, sessions, log });
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
