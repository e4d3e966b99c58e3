/**
 * Stores records in the state directory: a directory for each kind, and a file for each record. So a command line can
 * change records even if no server runs, and without a lock.
 */
import { mkdirSync, watch } from 'node:fs';
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessageOf, ProductError, errorCode } from '../../shared/runtime/errors.ts';
import { tryCreateFile, replaceFile } from '../../shared/state/atomic-file.ts';
import { isRecordName, type RecordKind, type RecordStore } from './record-store.ts';

/**
 * The file name extension of a record. A draft, i.e. a file that is not completely written yet, has another extension.
 */
const FILE_EXTENSION = '.json';

/** @param onFailure called if a directory cannot be watched */
export function createFileRecordStore(
  stateDirectory: string,
  onFailure: (error: unknown) => void,
): RecordStore {
  const directoryOf = (kind: RecordKind): string => join(stateDirectory, kind);
  const pathOf = (kind: RecordKind, name: string): string =>
    join(directoryOf(kind), `${name}${FILE_EXTENSION}`);

  const read: RecordStore['read'] = async (kind, name) => {
    if (!isRecordName(name)) return undefined;
    const path = pathOf(kind, name);
    return unlessMissing(path, () => readFile(path, 'utf8'));
  };
  const write = async <Result>(
    kind: RecordKind,
    name: string,
    act: (path: string) => Promise<Result>,
  ): Promise<Result> => {
    if (!isRecordName(name)) throw new RangeError('this is no name of a record');
    return withRecordFileErrors(directoryOf(kind), async () => {
      await mkdir(directoryOf(kind), { recursive: true, mode: 0o700 });
      return act(pathOf(kind, name));
    });
  };

  /**
   * Swaps, replacements and removals of this process run one after the other. Otherwise a swap could bring a record
   * back that was removed after the swap has read it. Other processes are not part of this order. So only the server
   * process swaps records, and no command changes a record that the server swaps.
   */
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <Result>(act: () => Promise<Result>): Promise<Result> => {
    const done = last.then(act);
    last = done.catch(() => undefined);
    return done;
  };

  return {
    read,
    async list(kind, prefix = '') {
      const directory = directoryOf(kind);
      const files = (await unlessMissing(directory, () => readdir(directory))) ?? [];
      const names = files
        .filter((file) => file.startsWith(prefix) && file.endsWith(FILE_EXTENSION))
        .map((file) => file.slice(0, -FILE_EXTENSION.length))
        .filter(isRecordName);
      const records = await Promise.all(names.map(async (name) => [name, await read(kind, name)] as const));
      return new Map(records.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
    },
    create: (kind, name, value) => write(kind, name, (path) => tryCreateFile(path, value)),
    replace: (kind, name, value) => inOrder(() => write(kind, name, (path) => replaceFile(path, value))),
    swap: (kind, name, { before, after }) =>
      inOrder(async () => {
        if ((await read(kind, name)) !== before) return false;
        await write(kind, name, (path) => replaceFile(path, after));
        return true;
      }),
    remove: (kind, name, value) =>
      inOrder(async () => {
        if (!isRecordName(name)) return false;
        if (value !== undefined && (await read(kind, name)) !== value) return false;
        const path = pathOf(kind, name);
        const removed = await unlessMissing(path, async () => {
          await unlink(path);
          return true;
        });
        return removed ?? false;
      }),
    watch(kind, wake) {
      const directory = directoryOf(kind);
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        const watcher = watch(directory, { persistent: false }, wake);
        watcher.on('error', onFailure);
        return () => watcher.close();
      } catch (error) {
        onFailure(error);
        return () => undefined;
      }
    },
  };
}

async function unlessMissing<Result>(path: string, act: () => Promise<Result>): Promise<Result | undefined> {
  return withRecordFileErrors(path, async () => {
    try {
      return await act();
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  });
}

async function withRecordFileErrors<Result>(path: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw new ProductError('STORAGE', `The server cannot use ${path}: ${errorMessageOf(error)}.`, {
      facts: { path },
      cause: error,
    });
  }
}
