/**
 * What files held before tools changed them: a directory for each task, and in it a file for each content, by its hash.
 *
 * The journal says which content is whose; a content is durable before the journal speaks of it, so whatever the journal
 * names is here. Contents go with the tasks they belong to, whole: nothing is counted, and nothing is shared between tasks.
 */
import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../shared/atomic-file.ts';
import { messageOf, ProductError } from '../../shared/errors.ts';
import { systemErrorCode } from '../../shared/system-error.ts';
import { hashOf } from '../tools/workspace/text-file.ts';

export interface ContentStore {
  /** Durable when it resolves. @throws ProductError STORAGE */
  keep(taskId: string, content: { bytes: Uint8Array; hash: string }): Promise<void>;
  /** The bytes with that hash, or undefined when they are not here, or are no longer what they were. */
  read(taskId: string, hash: string): Promise<Uint8Array | undefined>;
  /** The tasks whose files have been changed: each has its place here before its first change. */
  tasks(): Promise<string[]>;
  /** Makes the task's place. @throws ProductError STORAGE */
  prepare(taskId: string): Promise<void>;
  forget(taskId: string): Promise<void>;
}

/** @param directory made at the first need, readable by its owner alone */
export function contentStore(directory: string): ContentStore {
  const placeOf = (taskId: string): string => join(directory, nameOf(taskId));
  const prepare = async (taskId: string): Promise<void> => {
    if ((await mkdir(placeOf(taskId), { recursive: true, mode: 0o700 })) !== undefined) await sync(directory);
  };
  return {
    prepare: (taskId) => storing(directory, () => prepare(taskId)),
    keep: (taskId, { bytes, hash }) =>
      storing(directory, async () => {
        await prepare(taskId);
        const path = join(placeOf(taskId), hash);
        // A turn may change one file often, and back: what is here already, and whole, is not written again.
        if ((await wholeContent(path, hash)) !== undefined) return;
        await replaceFile(path, bytes);
        await sync(placeOf(taskId));
      }),
    read: (taskId, hash) => wholeContent(join(placeOf(taskId), hash), hash),
    async tasks() {
      try {
        return (await readdir(directory)).flatMap(taskOf);
      } catch (error) {
        if (systemErrorCode(error) === 'ENOENT') return [];
        throw error;
      }
    },
    forget: (taskId) => rm(placeOf(taskId), { recursive: true, force: true }),
  };
}

/** A name of its own for every id, `..` too. */
function nameOf(taskId: string): string {
  return encodeURIComponent(taskId).replaceAll('.', '%2E');
}

/** None for a name that is not one of ours. */
function taskOf(name: string): string[] {
  try {
    const taskId = decodeURIComponent(name);
    return nameOf(taskId) === name ? [taskId] : [];
  } catch {
    return [];
  }
}

async function wholeContent(path: string, hash: string): Promise<Uint8Array | undefined> {
  try {
    const bytes = await readFile(path);
    return hashOf(bytes) === hash ? bytes : undefined;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes the names in a directory durable, where the system can. */
async function sync(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function storing<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new ProductError(
      'STORAGE',
      `What the file was could not be kept in ${directory} (${messageOf(cause)}), so it was not changed. Free some space on that disk, then try again.`,
      { cause },
    );
  }
}
