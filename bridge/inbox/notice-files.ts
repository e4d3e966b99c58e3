/**
 * Writes what the inbox has for each directory into small files, so that the hooks of an MCP client need not start a
 * program. `<state>/notices/<directory>/notices.<pid>` is the file of one running bridge. The hooks read the files of
 * all running bridges, and create the directory. Without that directory, the bridge writes nothing.
 */
import { existsSync, rmSync } from 'node:fs';
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../shared/runtime/logging.ts';
import { systemErrorCode } from '../../shared/runtime/errors.ts';
import { watchDirectory } from '../local-server/watch-directory.ts';
import { listedSession } from '../sessions/list-sessions.ts';
import type { Session } from '../sessions/session.ts';
import type { LiveSessions } from '../sessions/sessions-in-memory.ts';
import type { BridgeDatabase } from '../state/database.ts';
import { isPidInUse } from '../state/process-id.ts';
import type { UncollectedTask, WaitingResults } from '../state/waiting-results.ts';
import type { ToolName } from '../tool-names/tool-names.ts';
import { noticesText } from './notices.ts';

const OWN_NAME = `notices.${String(process.pid)}`;
/** The maximum number of tasks whose changes the files follow at once. Each has one stream. */
const FOLLOWED = 50;
/** The shortest time between two looks at the database, in milliseconds. */
const LOOK_MS = 100;
/** The time that the hooks remember what they have shown to a session, in milliseconds. */
const TOLD_MS = 30 * 24 * 60 * 60 * 1000;

interface NoticeParts {
  stateDirectory: string;
  database: BridgeDatabase;
  results: WaitingResults;
  live: LiveSessions;
  name: (tool: ToolName) => string;
  log: Logger;
}

export class NoticeFiles {
  readonly #parts: NoticeParts;
  readonly #root: string;
  /** The texts of the written files, by path. */
  readonly #written = new Map<string, string>();
  readonly #followed = new Map<Session, () => void>();
  #writing: Promise<void> | undefined;
  #changed = false;
  #closed = false;
  #stopWatching: (() => void) | undefined;

  constructor(parts: NoticeParts) {
    this.#parts = parts;
    this.#root = join(parts.stateDirectory, 'notices');
    parts.live.onAdded((session) => this.#listen(session));
    parts.live.onRemoved((session) => this.#unfollow(session));
    this.refresh();
  }

  /** Returns true if hooks have run with this state directory. */
  get wanted(): boolean {
    return existsSync(this.#root);
  }

  /** Writes the files again if something has changed. Several calls at once cause one or two writes. */
  refresh(): void {
    if (this.#closed) return;
    this.#changed = true;
    if (this.#writing !== undefined) return;
    this.#writing = this.#writeAll()
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error }, 'the notices for hooks could not be written'),
      )
      .finally(() => (this.#writing = undefined));
  }

  /** Removes the files. They are true only while this process runs. */
  close(): void {
    this.#closed = true;
    this.#stopWatching?.();
    for (const stop of this.#followed.values()) stop();
    for (const path of this.#written.keys()) rmSync(path, { force: true });
  }

  #listen(session: Session): void {
    session.listen(({ type }) => {
      if (type === 'state' || type === 'handed-over') this.refresh();
    });
    this.refresh();
  }

  async #writeAll(): Promise<void> {
    while (this.#changed && !this.#closed) {
      // A look at the disk must not delay the reply to a call that has noticed the change.
      await nextTurn();
      this.#changed = false;
      if (this.#closed || !this.wanted) return;
      this.#stopWatching ??= this.#watchDatabase();
      await this.#writeOnce();
    }
  }

  async #writeOnce(): Promise<void> {
    const { results, live, name } = this.#parts;
    for (const session of live.all) this.#follow(session);
    const sessions = live.all.map(listedSession);
    // A file that was written before is written again, also if nothing is left for it.
    const tasks = new Map<string, UncollectedTask[]>([...this.#written.keys()].map((path) => [path, []]));
    for (const task of await results.uncollected()) {
      if (task.delegatedIn === null) continue;
      const path = join(this.#root, task.delegatedIn, OWN_NAME);
      tasks.set(path, [...(tasks.get(path) ?? []), task]);
    }
    for (const [path, some] of tasks) await this.#write(path, noticesText(some, sessions, name));
  }

  /** Follows a task also while it waits, because a person may decide elsewhere. */
  #follow(session: Session): void {
    if (session.over) this.#unfollow(session);
    else if (!this.#followed.has(session) && this.#followed.size < FOLLOWED)
      this.#followed.set(session, session.watch());
  }

  #unfollow(session: Session): void {
    this.#followed.get(session)?.();
    this.#followed.delete(session);
  }

  async #write(path: string, text: string): Promise<void> {
    if (this.#written.get(path) === text) return;
    const draft = `${path}.draft`;
    try {
      await writeFile(draft, text, { mode: 0o600 });
      await rename(draft, path);
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return; // No hook has run in this directory.
      throw error;
    }
    // `close` does not wait for this write.
    if (this.#closed) return rm(path, { force: true });
    if (!this.#written.has(path)) await removeOld(join(path, '..'));
    this.#written.set(path, text);
  }

  /** Looks for writes of this and other processes, which collect results too. */
  #watchDatabase(): () => void {
    const { database, stateDirectory } = this.#parts;
    let version: unknown;
    let timer: NodeJS.Timeout | undefined;
    const look = (): void => {
      timer = undefined;
      if (this.#closed) return;
      const now = database.changes();
      if (now === version) return;
      version = now;
      this.refresh();
    };
    // The journal of the local server is in this directory too, and changes often.
    return watchDirectory(stateDirectory, () => (timer ??= setTimeout(look, LOOK_MS).unref()));
  }
}

/** Removes the files of ended bridges, and what the hooks have noted about old sessions. */
async function removeOld(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const [, pid] = /^notices\.(\d+)(?:\.draft)?$/.exec(name) ?? [];
    const isOld =
      pid === undefined
        ? name.startsWith('told.') && Date.now() - (await stat(path)).mtimeMs > TOLD_MS
        : !isPidInUse(Number(pid));
    if (isOld) await rm(path, { force: true });
  }
}
