/** Reads the log of the local server while the server appends to it and rotates it (`shared/runtime/log-file.ts`). */
import { open, stat } from 'node:fs/promises';
import { errorCode } from '../../shared/runtime/errors.ts';
import { rotatedLogPath } from '../../shared/runtime/log-file.ts';

/** The number of bytes at the end of the file in which the last lines are searched. */
const TAIL_BYTES = 4 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** A position in the log: `at` is the number of bytes that were read. */
interface LogPosition {
  at: number;
  log: string;
  /** The id of the rotated file. Undefined if the log was never rotated. */
  older: string | undefined;
}

/**
 * Returns the last complete lines of the log. Returns undefined if there is no log.
 * @param count the number of lines. They may include lines of the rotated file.
 */
export async function readLastLines(
  path: string,
  count: number,
): Promise<{ lines: readonly string[]; position: LogPosition } | undefined> {
  for (;;) {
    const log = (await fileOf(path))?.id;
    if (log === undefined) return undefined;
    const older = (await fileOf(rotatedLogPath(path)))?.id;
    const tail = await tailOf(path, count);
    if (tail === undefined) return undefined;
    const missing = count - tail.lines.length;
    const earlier =
      missing > 0 && older !== undefined ? await tailOf(rotatedLogPath(path), missing) : undefined;
    // If the log was rotated meanwhile, or the rotated file was deleted, the two parts do not fit together. So both are
    // read again.
    if ((await fileOf(rotatedLogPath(path)))?.id !== older) continue;
    return {
      lines: [...(earlier?.lines ?? []), ...tail.lines],
      position: { at: tail.at, log, older },
    };
  }
}

/**
 * Passes the bytes after the position to `show`, and returns the new position. If the log was rotated, the rest of the
 * rotated file comes first. A caller that calls this function after each change neither misses nor repeats bytes. There
 * are two exceptions: the log was rotated twice between two calls, or the new log is already as long as the old one.
 */
export async function showNewLogContent(
  path: string,
  before: LogPosition,
  show: (chunk: Buffer) => void,
): Promise<LogPosition> {
  const olderPath = rotatedLogPath(path);
  // A rotation first replaces the rotated file, and then empties the log. So if the log is empty, the rotated file
  // already contains the earlier lines.
  let log = await fileOf(path);
  const older = (await fileOf(olderPath))?.id;
  let { at } = before;
  if (older !== undefined && older !== before.older) {
    at = await readFrom(olderPath, at, { show });
    log = await fileOf(path);
  }
  if (log === undefined) return { ...before, at, older };
  if (log.id !== before.log || log.size < at) at = 0;
  const isSameLog = async (): Promise<boolean> => (await fileOf(olderPath))?.id === older;
  return { at: await readFrom(path, at, { show, isSameLog }), log: log.id, older };
}

/**
 * Passes the bytes from a position to `show`, and returns the position after the last of them.
 * @param isSameLog called after each chunk. If it returns false, the log was rotated, and the chunk is not shown.
 */
async function readFrom(
  path: string,
  from: number,
  {
    show,
    isSameLog = () => Promise.resolve(true),
  }: { show: (chunk: Buffer) => void; isSameLog?: () => Promise<boolean> },
): Promise<number> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return from;
  let at = from;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0 || !(await isSameLog())) break;
    at += bytesRead;
    show(buffer.subarray(0, bytesRead));
  }
  await file.close();
  return at;
}

/** Returns the id and the size in bytes of a file. Returns undefined if the file does not exist. */
async function fileOf(path: string): Promise<{ id: string; size: number } | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && { id: `${found.dev}:${found.ino}`, size: Number(found.size) };
}

/** Returns the last lines of a file, and the position after them. Returns undefined if the file does not exist. */
async function tailOf(
  path: string,
  count: number,
): Promise<{ at: number; lines: readonly string[] } | undefined> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    return undefined;
  });
  if (file === undefined) return undefined;
  const { size } = await file.stat();
  const from = Math.max(0, size - TAIL_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
  await file.close();
  const text = buffer.subarray(0, bytesRead).toString('utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const lines = whole === '' ? [] : whole.slice(0, -1).split('\n');
  // The position is after the last complete line. The rest of the file is read later.
  const at = from + Buffer.byteLength(whole);
  return { at, lines: count === 0 ? [] : lines.slice(-count) };
}
