/**
 * The outbox: every delegation is on disk before it leaves (B1), and stays there until its result is collected.
 *
 * A file for each: `open/<message id>.<owner>.json` while it is somebody's business, `closed/<message id>.json` after.
 * The owner is the process that sends it. Taking an entry over is a rename, which succeeds for exactly one process, and
 * only entries of processes that have ended are taken.
 */
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../shared/atomic-file.ts';
import { messageOf, ProductError } from '../../shared/errors.ts';
import type { TaskStateName } from '../dialects/observation.ts';
import { titleOf } from '../results/title.ts';
import { type OutboxEntry, outboxEntry } from './entry.ts';
import { closedDirectory, OPEN_NAME, openDirectory, orphansIn } from './orphans.ts';
import { ownProcessId, type ProcessId } from './process-id.ts';

/** Handles of ended sessions kept for agents that cannot list theirs. */
const KEPT_CLOSED = 500;
/** How often the open entries are read while others take them over. */
const LOOKS = 5;

export class Outbox {
  readonly #open: string;
  readonly #closed: string;
  readonly #owner: ProcessId;
  /** Writes of one entry follow each other. */
  readonly #queues = new Map<string, Promise<unknown>>();
  /**
   * What this process has written, by the file's name: nobody else changes it, though another bridge may remove it. Every
   * call looks through the outbox, so that reading all of it would make each call as slow as many are open.
   */
  readonly #written = new Map<string, OutboxEntry>();

  private constructor(directory: string, owner: ProcessId) {
    this.#open = openDirectory(directory);
    this.#closed = closedDirectory(directory);
    this.#owner = owner;
  }

  /** @throws when the directory cannot be made */
  static async at(directory: string): Promise<Outbox> {
    const outbox = new Outbox(directory, await ownProcessId());
    await mkdir(outbox.#open, { recursive: true, mode: 0o700 });
    await mkdir(outbox.#closed, { recursive: true, mode: 0o700 });
    return outbox;
  }

  /**
   * Writes the entry, durably: when this resolves, the message may leave.
   * @throws ProductError STORAGE when it cannot be written (R28)
   */
  async put(entry: OutboxEntry): Promise<void> {
    try {
      await this.#inTurn(entry.messageId, () => this.#write(entry));
    } catch (error) {
      throw new ProductError(
        'STORAGE',
        `The bridge could not write the delegation down in ${this.#open} (${messageOf(error)}), and sends nothing that it has not written down. Free some space on that disk, or make the directory writable for this user, then delegate again.`,
        { cause: error },
      );
    }
  }

  /** Changes an entry of this process. Does nothing for one that is not there any more. */
  update(
    messageId: string,
    change: Partial<Pick<OutboxEntry, 'state' | 'cancel' | 'answered'>>,
  ): Promise<void> {
    return this.#inTurn(messageId, async () => {
      const entry = await this.#read(this.#openPath(messageId));
      if (entry !== undefined) await this.#write({ ...entry, ...change });
    });
  }

  /** An open entry of this process as it is now. */
  current(messageId: string): Promise<OutboxEntry | undefined> {
    return this.#inTurn(messageId, () => this.#read(this.#openPath(messageId)));
  }

  /** The message was refused: nothing came of it. */
  drop(messageId: string): Promise<void> {
    return this.#inTurn(messageId, () => this.#remove(this.#openName(messageId)));
  }

  /** The results of this task have been handed over: closes its entries, whoever's they are. */
  async collect(taskId: string, ended: TaskStateName): Promise<void> {
    for (const { entry, name } of await this.#openFiles()) {
      if (entry.state.type !== 'accepted' || entry.state.taskId !== taskId) continue;
      await this.#inTurn(entry.messageId, async () => {
        await replaceFile(
          join(this.#closed, `${entry.messageId}.json`),
          JSON.stringify({
            ...entry,
            text: '',
            state: { ...entry.state, type: 'collected', ended, title: titleOf(entry.text) },
          }),
        );
        await this.#remove(name);
      });
    }
    await this.#forgetOldest();
  }

  /** What nobody has collected yet, of every bridge of this user, oldest first. */
  async open(): Promise<readonly OutboxEntry[]> {
    return byAge((await this.#openFiles()).map(({ entry }) => entry));
  }

  /** Every entry, of every bridge of this user: open ones first, each kind oldest first. */
  async entries(): Promise<readonly OutboxEntry[]> {
    const open = await this.open();
    const closed = await Promise.all(
      (await names(this.#closed)).map((name) => this.#read(join(this.#closed, name))),
    );
    return [...open, ...byAge(closed.filter((entry) => entry !== undefined))];
  }

  /** Takes over what bridges that have ended left behind. Each entry goes to exactly one of those who try. */
  async adopt(): Promise<readonly OutboxEntry[]> {
    const adopted: OutboxEntry[] = [];
    for (const { name, messageId } of await orphansIn(this.#open, this.#owner)) {
      try {
        await rename(join(this.#open, name), this.#openPath(messageId));
      } catch {
        continue; // Another bridge was quicker.
      }
      const entry = await this.#read(this.#openPath(messageId));
      if (entry === undefined) continue;
      this.#written.set(this.#openName(messageId), entry);
      adopted.push(entry);
    }
    return byAge(adopted);
  }

  /** The open entries of this process. */
  async mine(): Promise<readonly OutboxEntry[]> {
    const files = await this.#openFiles();
    return byAge(
      files.filter(({ entry, name }) => name === this.#openName(entry.messageId)).map(({ entry }) => entry),
    );
  }

  /** An entry that is taken over while the directory is read has another name by then: it is looked for once more. */
  async #openFiles(): Promise<readonly { entry: OutboxEntry; name: string }[]> {
    const seen = new Map<string, { entry: OutboxEntry; name: string }>();
    for (let round = 0; round < LOOKS; round += 1) {
      const open = (await names(this.#open)).filter((name) => OPEN_NAME.test(name));
      const read = await Promise.all(
        open.map(async (name) => ({
          name,
          entry: this.#written.get(name) ?? (await this.#read(join(this.#open, name))),
        })),
      );
      for (const { name, entry } of read) if (entry !== undefined) seen.set(entry.messageId, { entry, name });
      const after = new Set(await names(this.#open));
      for (const name of this.#written.keys()) if (!after.has(name)) this.#written.delete(name);
      if (open.every((name) => after.has(name))) break;
    }
    return [...seen.values()];
  }

  /** Undefined for a file that has gone, or is not an entry this version knows: it is left for one that does. */
  async #read(path: string): Promise<OutboxEntry | undefined> {
    try {
      return outboxEntry.safeParse(JSON.parse(await readFile(path, 'utf8'))).data;
    } catch {
      return undefined;
    }
  }

  async #write(entry: OutboxEntry): Promise<void> {
    await replaceFile(this.#openPath(entry.messageId), JSON.stringify(entry));
    this.#written.set(this.#openName(entry.messageId), entry);
  }

  async #remove(name: string): Promise<void> {
    await rm(join(this.#open, name), { force: true });
    this.#written.delete(name);
  }

  #openName(messageId: string): string {
    return `${messageId}.${this.#owner}.json`;
  }

  #openPath(messageId: string): string {
    return join(this.#open, this.#openName(messageId));
  }

  async #forgetOldest(): Promise<void> {
    const closed = await names(this.#closed);
    if (closed.length <= KEPT_CLOSED) return;
    const read = await Promise.all(closed.map((name) => this.#read(join(this.#closed, name))));
    const oldest = byAge(read.filter((entry) => entry !== undefined)).slice(0, closed.length - KEPT_CLOSED);
    await Promise.all(
      oldest.map((entry) => rm(join(this.#closed, `${entry.messageId}.json`), { force: true })),
    );
  }

  async #inTurn<T>(messageId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(messageId) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#queues.set(messageId, mine);
    try {
      return await mine;
    } finally {
      if (this.#queues.get(messageId) === mine) this.#queues.delete(messageId);
    }
  }
}

async function names(directory: string): Promise<readonly string[]> {
  return (await readdir(directory)).filter((name) => name.endsWith('.json'));
}

function byAge(entries: readonly OutboxEntry[]): readonly OutboxEntry[] {
  return entries.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
}
