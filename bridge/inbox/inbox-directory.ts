/**
 * Results that wait to be collected, on disk: one small file for each task, seen by all bridges of the user and by the
 * next one (B3). Which of them exist is told by the names alone, so that looking costs one reading of a directory.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../shared/atomic-file.ts';
import { type WaitingResult, waitingResult } from './waiting-result.ts';

/** The name of a result's file: which task of which agent it is of. */
export type ResultKey = string;

const NAME = /^([0-9a-f]{32})\.json$/;
/** More than anybody collects: the oldest give way. Their sessions can still be listed. */
const KEPT = 200;

export const inboxDirectory = (stateDirectory: string): string => join(stateDirectory, 'inbox');

/** Ids are the agents' own and may be anything; a file's name may not. */
export function keyOf({ agent, taskId }: Pick<WaitingResult, 'agent' | 'taskId'>): ResultKey {
  return createHash('sha256').update(`${agent}\n${taskId}`).digest('hex').slice(0, 32);
}

export class InboxDirectory {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws when the directory cannot be made */
  static async at(path: string): Promise<InboxDirectory> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return new InboxDirectory(path);
  }

  async put(result: WaitingResult): Promise<void> {
    await replaceFile(this.#file(keyOf(result)), JSON.stringify(result));
    await this.#forgetOldest();
  }

  async remove(key: ResultKey): Promise<void> {
    await rm(this.#file(key), { force: true });
  }

  async keys(): Promise<readonly ResultKey[]> {
    return (await readdir(this.#path)).flatMap((name) => NAME.exec(name)?.[1] ?? []);
  }

  /** Those of the results that are still there and readable, oldest first. */
  async read(keys: readonly ResultKey[]): Promise<readonly WaitingResult[]> {
    const found = await Promise.all(keys.map((key) => this.#read(key)));
    return found
      .flatMap((each) => each ?? [])
      .toSorted((a, b) => a.since - b.since)
      .map(({ result }) => result);
  }

  async #read(key: ResultKey): Promise<{ result: WaitingResult; since: number } | undefined> {
    const path = this.#file(key);
    try {
      const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
      const result = waitingResult.safeParse(JSON.parse(text)).data;
      return result === undefined ? undefined : { result, since: mtimeMs };
    } catch {
      return undefined; // It has been collected meanwhile, or is not one of this version's.
    }
  }

  async #forgetOldest(): Promise<void> {
    const keys = await this.keys();
    if (keys.length <= KEPT) return;
    const ordered = await this.read(keys);
    await Promise.all(ordered.slice(0, -KEPT).map((result) => this.remove(keyOf(result))));
  }

  #file(key: ResultKey): string {
    return join(this.#path, `${key}.json`);
  }
}
