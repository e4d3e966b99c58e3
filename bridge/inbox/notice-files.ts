/**
 * Writes the inbox entries of each directory into small files. The hooks of an MCP client read these files, and so need
 * not start a program. `<state>/notices/<directory>/notices.<pid>` is the file of one running bridge. A hook reads the
 * files of all running bridges, and creates the directory. If the directory does not exist, the bridge writes nothing.
 */
import { existsSync, rmSync } from 'node:fs';
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../shared/runtime/errors.ts';
import { isPidInUse } from '../state/process-id.ts';
import type { UncollectedTask } from '../state/waiting-results.ts';
import type { NameOfTool } from '../tool-names/tool-names.ts';
import type { InboxSources, InboxSurface } from './inbox-follower.ts';
import { directoryNoticeText } from './notices.ts';

const OWN_NAME = `notices.${String(process.pid)}`;
/** How long the hooks remember which entries they have shown in a session of the MCP client, in milliseconds. */
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;

export class HookNoticeFiles implements InboxSurface {
  readonly #root: string;
  readonly #name: NameOfTool;
  /** The text of each file that this process has written, by path. */
  readonly #written = new Map<string, string>();
  #closed = false;

  /** @param name returns the name of a tool with the prefix of this bridge */
  constructor(stateDirectory: string, name: NameOfTool) {
    this.#root = join(stateDirectory, 'notices');
    this.#name = name;
  }

  /** True if a hook has run with this state directory. */
  get wanted(): boolean {
    return existsSync(this.#root);
  }

  async show({ tasks, sessions }: InboxSources): Promise<void> {
    // A file whose entries are all gone is written again too, so that it no longer lists them.
    const files = new Map<string, UncollectedTask[]>([...this.#written.keys()].map((path) => [path, []]));
    for (const task of tasks) {
      if (task.delegatedIn === null) continue;
      const path = join(this.#root, task.delegatedIn, OWN_NAME);
      files.set(path, [...(files.get(path) ?? []), task]);
    }
    for (const [path, some] of files)
      await this.#write(path, directoryNoticeText(some, sessions, this.#name));
  }

  /** Removes the files of this process, because they are valid only while it runs. */
  close(): void {
    this.#closed = true;
    for (const path of this.#written.keys()) rmSync(path, { force: true });
  }

  async #write(path: string, text: string): Promise<void> {
    if (this.#written.get(path) === text) return;
    const draft = `${path}.draft`;
    try {
      await writeFile(draft, text, { mode: 0o600 });
      await rename(draft, path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return; // No hook has run in this directory.
      throw error;
    }
    // `close` may have run during this write.
    if (this.#closed) return rm(path, { force: true });
    if (!this.#written.has(path)) await removeOld(join(path, '..'));
    this.#written.set(path, text);
  }
}

/** Removes the files of bridges that have ended, and the hooks' notes about old sessions of the MCP client. */
async function removeOld(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const [, pid] = /^notices\.(\d+)(?:\.draft)?$/.exec(name) ?? [];
    const isOld =
      pid === undefined
        ? name.startsWith('told.') && Date.now() - (await stat(path)).mtimeMs > REMEMBERED_MS
        : !isPidInUse(Number(pid));
    if (isOld) await rm(path, { force: true });
  }
}
