/** Opens the agents and sessions for one command. It uses the same classes as the MCP tools. */
import { configuredAgents } from '../../startup/configured-agents.ts';
import type { Registry } from '../../agents/registry.ts';
import { DelegationService } from '../../sessions/deliver-delegations.ts';
import { LiveSessions } from '../../sessions/live-sessions.ts';
import { Sessions } from '../../sessions/sessions.ts';
import { BridgeDatabase } from '../../state/database.ts';
import { StoredDecisionClaims } from '../../state/decision-claims.ts';
import { Outbox } from '../../state/outbox.ts';
import { WaitingResults } from '../../state/waiting-results.ts';
import type { CommonOptions, CommandRun } from './run-command.ts';

export interface CommandContext {
  registry: Registry;
  live: LiveSessions;
  sessions: Sessions;
  delegations: DelegationService;
  database: BridgeDatabase;
  outbox: Outbox;
  results: WaitingResults;
  /** Waits until pending writes are done, then closes the connections. Tasks continue. */
  close(): Promise<void>;
}

/**
 * Opens the agents and sessions. A command is too short to finish the delegations of bridges that have ended, so it
 * leaves them to the next bridge. There is one exception: a command finishes the delegation of the session that it
 * names.
 * @throws ProductError CONFIGURATION if the state directory cannot be used; STORAGE if its database cannot be used
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
  const results = new WaitingResults(database);
  const live = new LiveSessions(outbox, new StoredDecisionClaims(database));
  const delegations = new DelegationService({
    registry,
    outbox,
    results,
    live,
    log,
    directory: settings.workspace,
    channel: 'cli',
  });
  const sessions = new Sessions({ registry, outbox, live, delegations });
  return {
    registry,
    live,
    sessions,
    delegations,
    database,
    outbox,
    results,
    async close() {
      await delegations.settled();
      live.close();
      database.close();
    },
  };
}
