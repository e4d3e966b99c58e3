/** The content of a file, as text or as bytes, read within bounds, and the hash it is known by. */
import { createHash } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { ProductError } from '../../../shared/errors.ts';
import type { Directory } from './directory.ts';
import { codeOf } from './file-failure.ts';

/** The basis of a preview made where no file was (D2): not the hash of anything. */
export const ABSENT = 'absent';

export const MAX_READ_BYTES = 10 * 1024 * 1024;

export interface TextFile {
  /** Relative to the workspace, with `/`, links resolved. */
  path: string;
  content: string;
  bytes: number;
  /** SHA-256 (hex) of the bytes on disk. */
  hash: string;
}

export function hashOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export interface FileToRead {
  name: string;
  /** Relative to the workspace, for what is said of it. */
  path: string;
  /** Bytes it may have; MAX_READ_BYTES if left out. */
  most?: number | undefined;
}

/** What a regular file is, whether it holds text or not. */
export interface FileContent {
  /** Relative to the workspace, with `/`, links resolved. */
  path: string;
  bytes: Uint8Array;
  /** SHA-256 (hex) of the bytes. */
  hash: string;
  /** Its permissions, as in chmod(2). */
  mode: number;
}

/** Reads a regular file whole. @throws ProductError TOO_LARGE, UNSUPPORTED_CONTENT for what is no regular file */
export async function readContent(
  directory: Directory,
  file: FileToRead & { info: BigIntStats },
): Promise<FileContent> {
  const bytes = await readBytes(directory, file);
  return { path: file.path, bytes, hash: hashOf(bytes), mode: Number(file.info.mode & 0o777n) };
}

/** Reads a regular file whole, as text. @throws ProductError TOO_LARGE, UNSUPPORTED_CONTENT */
export async function readText(directory: Directory, file: FileToRead): Promise<TextFile> {
  const bytes = await readBytes(directory, file);
  const { path } = file;
  return { path, content: decode(bytes, path), bytes: bytes.length, hash: hashOf(bytes) };
}

/** The hash of what the file holds now, or ABSENT. */
export async function currentBasis(directory: Directory, file: FileToRead): Promise<string> {
  try {
    return hashOf(await readBytes(directory, file));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ABSENT;
    throw error;
  }
}

async function readBytes(directory: Directory, { name, path, most }: FileToRead): Promise<Uint8Array> {
  const limit = Math.min(most ?? MAX_READ_BYTES, MAX_READ_BYTES);
  const handle = await directory.file(name, constants.O_RDONLY);
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw notRegular(path);
    if (info.size > limit) throw tooLarge(path, limit);
    return await readToEnd(handle, info.size, { path, limit });
  } finally {
    await handle.close();
  }
}

/** The size is only a hint: the file may grow meanwhile, and files of /proc say 0. */
async function readToEnd(
  handle: FileHandle,
  size: number,
  { path, limit }: { path: string; limit: number },
): Promise<Uint8Array> {
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    if (length === buffer.length) {
      buffer = Buffer.concat([buffer], Math.min(buffer.length * 2, limit) + 1024);
    }
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
    if (length > limit) throw tooLarge(path, limit);
    // One byte more was asked for than the file had, and did not come: that was the end.
    if (length === size) return buffer.subarray(0, length);
  }
}

function decode(bytes: Uint8Array, path: string): string {
  if (bytes.includes(0)) {
    throw new ProductError('UNSUPPORTED_CONTENT', `"${path}" is a binary file; the file tools work on text.`);
  }
  try {
    // A byte order mark is kept, so that what is written back is what was read.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ProductError(
      'UNSUPPORTED_CONTENT',
      `"${path}" is not valid UTF-8; convert it first, for example with iconv in a shell command.`,
      { cause },
    );
  }
}

export function notRegular(path: string): ProductError {
  return new ProductError(
    'UNSUPPORTED_CONTENT',
    `"${path}" is not a regular file (a pipe, socket or device); the file tools leave it alone.`,
  );
}

function tooLarge(path: string, limit: number): ProductError {
  return new ProductError(
    'TOO_LARGE',
    `"${path}" is larger than ${limit / 1024 / 1024} MiB; read a part of it with a shell command such as sed -n or tail.`,
  );
}
