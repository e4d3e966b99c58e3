/**
 * Shows a notification of the desktop for each new entry of the inbox: a result that no client has collected, or a task
 * that waits for a person. The setting `desktopNotifications` turns this on.
 *
 * Invariants
 * - Several bridges of a user show an entry once. A row of the database records it before the notification is shown.
 * - A notification has the title of the task and its state. It has no preview, because other people may see the screen.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { ShownEntries } from '../state/shown-entries.ts';
import { type DesktopCommand, desktopCommand } from './desktop-command.ts';
import { inboxEntries, ownSessions } from './inbox-entry.ts';
import type { InboxReading, InboxSurface } from './inbox-follower.ts';
import { isWaiting } from '../sessions/list-sessions.ts';
import { entryText } from './notices.ts';

/** The maximum number of notifications at once. For more new entries, one notification has their number. */
const AT_ONCE = 3;
/** The time limit of the program that shows a notification, in milliseconds. */
const LIMIT_MS = 10_000;

export class DesktopNotifications implements InboxSurface {
  readonly wanted = true;
  readonly #shown: ShownEntries;
  readonly #log: Logger;

  constructor(shown: ShownEntries, log: Logger) {
    this.#shown = shown;
    this.#log = log;
  }

  show({ tasks, sessions }: InboxReading): void {
    // The end of a task is recorded only if no call waits for its result. So an ended session alone shows nothing.
    const waiting = ownSessions(tasks, sessions).filter(isWaiting);
    const added = inboxEntries(waiting, tasks).filter(({ key }) => this.#shown.add(key));
    const texts =
      added.length > AT_ONCE
        ? [`${String(added.length)} results or actions wait in the inbox.`]
        : added.map(({ entry }) => entryText(entry));
    // The files for hooks must not wait for a slow desktop.
    for (const text of texts) void this.#run(desktopCommand(process.platform, text));
  }

  close(): void {
    // A notification that is already on the screen stays there.
  }

  /** Never rejects. A failed notification is logged and not repeated, because the inbox still has the entry. */
  async #run(command: DesktopCommand | undefined): Promise<void> {
    try {
      if (command === undefined) throw new Error(`there is no program for ${process.platform}`);
      await promisify(execFile)(command.program, command.args, { timeout: LIMIT_MS });
    } catch (error) {
      this.#log.warn({ problem: messageOf(error) }, 'a desktop notification could not be shown');
    }
  }
}
