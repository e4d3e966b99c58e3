import type { Logger } from '../../shared/runtime/logging.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import { DelegationService } from '../sessions/deliver-delegations.ts';
import { LiveSessions } from '../sessions/live-sessions.ts';
import { Sessions } from '../sessions/sessions.ts';
import type { BridgeSettings } from '../settings/settings.ts';
import { BridgeDatabase } from '../state/database.ts';
import { DecisionClaims } from '../state/decision-claims.ts';
import { Outbox } from '../state/outbox.ts';
import { WaitingResults } from '../state/waiting-results.ts';
import { createAgentRegistry } from './configured-agents.ts';

/** The agents, and the sessions with them. */
export interface OpenSessions {
  registry: AgentRegistry;
  live: LiveSessions;
  sessions: Sessions;
  delegations: DelegationService;
  database: BridgeDatabase;
  outbox: Outbox;
  results: WaitingResults;
}

export interface OpenSessionsOptions {
  settings: BridgeSettings;
  env: Environment;
  serverScript: string;
  log: Logger;
  /** The channel of the person's messages: the MCP tools, or the command line. */
  channel: 'mcp' | 'cli';
}

/**
 * Opens the agents and sessions for the MCP server or for one command. The caller closes `live`, then `database`.
 * @throws ProductError CONFIGURATION if the state directory cannot be used; STORAGE if its database cannot be used
 */
export async function openSessions({
  settings,
  env,
  serverScript,
  log,
  channel,
}: OpenSessionsOptions): Promise<OpenSessions> {
  const registry = createAgentRegistry(settings, env, serverScript);
  const database = await BridgeDatabase.open(settings.stateDir);
  const outbox = new Outbox(database);
  const results = new WaitingResults(database);
  const live = new LiveSessions(outbox, new DecisionClaims(database));
  const delegations = new DelegationService({
    registry,
    outbox,
    results,
    live,
    log,
    directory: settings.workspace,
    channel,
  });
  const sessions = new Sessions({ registry, outbox, live, delegations });
  return { registry, live, sessions, delegations, database, outbox, results };
}
