/** Opens the agents and sessions for one command. It uses the same classes as the MCP tools. */
import { openSessions, type OpenSessions } from '../../startup/open-sessions.ts';
import type { CommandRun } from './run-command.ts';

/** The maximum time to wait for a task, in milliseconds: one day. The person can end the wait earlier with Ctrl-C. */
export const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

export interface CommandSessions extends OpenSessions {
  /** Waits until pending writes are done, then closes the connections. Tasks continue. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Opens the agents and sessions. A command is too short to finish the delegations of bridges that have ended, so it
 * leaves them to the next bridge. There is one exception: a command finishes the delegation of the session that it
 * names.
 * @throws ProductError CONFIGURATION if the state directory cannot be used; STORAGE if its database cannot be used
 */
export async function openCommandSessions({
  settings,
  places,
  env,
  log,
}: Pick<CommandRun, 'settings' | 'places' | 'env' | 'log'>): Promise<CommandSessions> {
  const { serverScript } = places;
  const opened = await openSessions({ settings, env, serverScript, log, channel: 'cli' });
  const { delegations, live, database } = opened;
  let isOpen = true;
  return {
    ...opened,
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await delegations.settled();
      live.close();
      database.close();
    },
  };
}
