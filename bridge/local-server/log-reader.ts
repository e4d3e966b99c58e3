/** Reads the log of the local server while the server appends to it and rotates it (`shared/runtime/log-file.ts`). */
import { open, stat } from 'node:fs/promises';
import { rotatedLogPath } from '../../shared/runtime/log-file.ts';

/** The number of bytes at the end of the file in which the reader searches the last lines. */
const TAIL = 4 * 1024 * 1024;
const CHUNK = 64 * 1024;

/** The position after the last byte that was read, in bytes. */
export interface LogPosition {
  at: number;
  log: string;
  /** The id of the rotated file; undefined before the first rotation. */
  older: string | undefined;
}

/**
 * Reads the last lines of the log.
 * @param count the number of lines, which may include lines of the rotated log
 * @returns the last complete lines; undefined if there is no log
 */
export async function readLastLines(
  path: string,
  count: number,
): Promise<{ lines: readonly string[]; position: LogPosition } | undefined> {
  for (;;) {
    const log = (await fileOf(path))?.id;
    if (log === undefined) return undefined;
    const older = (await fileOf(rotatedLogPath(path)))?.id;
    const { at, lines } = await tailOf(path, count);
    const missing = count - lines.length;
    const earlier =
      missing > 0 && older !== undefined ? await tailOf(rotatedLogPath(path), missing) : { lines: [] };
    // The log was rotated in the meantime, so the two parts do not fit together.
    if ((await fileOf(rotatedLogPath(path)))?.id !== older) continue;
    return { lines: [...earlier.lines, ...lines], position: { at, log, older } };
  }
}

/**
 * Shows the bytes after the position. If the log was rotated, first shows the rest of the old file. Call it after each
 * change. It then neither misses nor repeats bytes. Exceptions: the log is rotated twice between two calls, or is
 * already as long as before.
 * @returns the new position
 */
export async function readNewContent(
  path: string,
  before: LogPosition,
  show: (chunk: Buffer) => void,
): Promise<LogPosition> {
  const olderPath = rotatedLogPath(path);
  // A rotation first replaces the old file, and then empties the log. So when a reader finds an empty log, the old file
  // already has the earlier lines.
  let log = await fileOf(path);
  const older = (await fileOf(olderPath))?.id;
  let { at } = before;
  if (older !== undefined && older !== before.older) {
    at = await readFrom(olderPath, at, show);
    log = await fileOf(path);
  }
  if (log === undefined) return { ...before, at, older };
  if (log.id !== before.log || log.size < at) at = 0;
  const isSameLog = async (): Promise<boolean> => (await fileOf(olderPath))?.id === older;
  return { at: await readFrom(path, at, show, isSameLog), log: log.id, older };
}

/**
 * @param isSameLog checked after each chunk; after a rotation the chunk is not shown
 * @returns the position after the last shown byte
 */
async function readFrom(
  path: string,
  from: number,
  show: (chunk: Buffer) => void,
  isSameLog: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<number> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return from;
  let at = from;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
    if (bytesRead === 0 || !(await isSameLog())) break;
    at += bytesRead;
    show(buffer.subarray(0, bytesRead));
  }
  await file.close();
  return at;
}

/** Returns the identity and size in bytes of a file; undefined if the file does not exist. */
async function fileOf(path: string): Promise<{ id: string; size: number } | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && { id: `${found.dev}:${found.ino}`, size: Number(found.size) };
}

async function tailOf(path: string, count: number): Promise<{ at: number; lines: readonly string[] }> {
  const file = await open(path, 'r');
  const { size } = await file.stat();
  const from = Math.max(0, size - TAIL);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
  await file.close();
  const text = buffer.subarray(0, bytesRead).toString('utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const lines = whole === '' ? [] : whole.slice(0, -1).split('\n');
  // The position is after the last complete line, because only complete lines are read.
  const at = from + Buffer.byteLength(whole);
  return { at, lines: count === 0 ? [] : lines.slice(-count) };
}
