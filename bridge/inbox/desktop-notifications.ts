/**
 * Shows a desktop notification for each new entry of the inbox: a result that no client has collected, or a task that
 * waits for a person. The setting `desktopNotifications` turns this on.
 *
 * Invariants
 * - If a user has several bridges, only one of them shows an entry. That bridge first writes a row into the database.
 * - A notification contains the title of the task and its state. It contains no preview, because other people may see
 *   the screen.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { NotifiedEntryRecords } from '../state/notified-entry-records.ts';
import { type DesktopCommand, desktopCommand } from './desktop-command.ts';
import { inboxEntries, ownOpenSessions } from './inbox-entry.ts';
import type { InboxSources, InboxSurface } from './inbox-follower.ts';
import { isSessionWaiting } from '../sessions/list-sessions.ts';
import { inboxEntryText } from './notices.ts';

/**
 * The maximum number of notifications after one change. If more entries are new, one notification shows their number.
 */
const MAX_NOTIFICATIONS = 3;
/** The time limit in milliseconds of the program that shows a notification. */
const TIMEOUT_MS = 10_000;

export class DesktopNotifications implements InboxSurface {
  readonly wanted = true;
  readonly #shown: NotifiedEntryRecords;
  readonly #log: Logger;

  constructor(shown: NotifiedEntryRecords, log: Logger) {
    this.#shown = shown;
    this.#log = log;
  }

  show({ tasks, sessions }: InboxSources): void {
    // The notification about an ended task comes from the database, which records the end only if no tool call waits
    // for the result. So ended sessions are left out here.
    const waiting = ownOpenSessions(tasks, sessions).filter(isSessionWaiting);
    const added = inboxEntries(waiting, tasks).filter(({ key }) => this.#shown.add(key));
    const texts =
      added.length > MAX_NOTIFICATIONS
        ? [`${String(added.length)} results or actions wait in the inbox.`]
        : added.map(({ entry }) => inboxEntryText(entry));
    // The caller does not wait for these promises, because a slow desktop must not delay the files for hooks.
    for (const text of texts) void this.#runCommand(desktopCommand(process.platform, text));
  }

  /**
   * Runs the command. Never rejects: an error is logged. The notification is not repeated, because the inbox still
   * contains the entry.
   */
  async #runCommand(command: DesktopCommand | undefined): Promise<void> {
    try {
      if (command === undefined) throw new Error(`there is no program for ${process.platform}`);
      await promisify(execFile)(command.program, command.args, { timeout: TIMEOUT_MS });
    } catch (error) {
      this.#log.warn({ problem: errorMessageOf(error) }, 'a desktop notification could not be shown');
    }
  }
}
