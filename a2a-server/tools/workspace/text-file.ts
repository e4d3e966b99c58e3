import { createHash } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { ProductError, errorCode } from '../../../shared/runtime/errors.ts';
import type { Directory } from './directory.ts';

/** The `basis` of a file that did not exist at the preview. No hash has this value. */
export const ABSENT_FILE_BASIS = 'absent';

export const MAX_READ_BYTES = 10 * 1024 * 1024;

export interface TextFile {
  /** The path of the file, relative to the workspace, with `/`. Links are resolved. */
  path: string;
  content: string;
  bytes: number;
  /** SHA-256 (hex) of the bytes on disk. */
  hash: string;
}

export function contentHashOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

interface FileToRead {
  name: string;
  /** The path of the file for error messages, relative to the workspace. */
  path: string;
  /** The maximum size in bytes. The default is MAX_READ_BYTES. */
  maxBytes?: number | undefined;
}

export interface FileContent {
  /** The path of the file, relative to the workspace, with `/`. Links are resolved. */
  path: string;
  bytes: Uint8Array;
  /** SHA-256 (hex) of the bytes. */
  hash: string;
  /** The permission bits, as in chmod(2). */
  mode: number;
}

/**
 * Reads a whole regular file.
 * @throws ProductError TOO_LARGE if the file is larger than the maximum
 * @throws ProductError UNSUPPORTED_CONTENT if the path does not name a regular file
 */
export async function readFileBytes(
  directory: Directory,
  file: FileToRead & { info: BigIntStats },
): Promise<FileContent> {
  const bytes = await readBytes(directory, file);
  return { path: file.path, bytes, hash: contentHashOf(bytes), mode: Number(file.info.mode & 0o777n) };
}

/** Like `readFileBytes`, for text in UTF-8. @throws ProductError TOO_LARGE, UNSUPPORTED_CONTENT */
export async function readTextFile(directory: Directory, file: FileToRead): Promise<TextFile> {
  const bytes = await readBytes(directory, file);
  const { path } = file;
  return { path, content: decodeFileText({ bytes, path }), bytes: bytes.length, hash: contentHashOf(bytes) };
}

/** Returns the hash of the current content. Returns `ABSENT_FILE_BASIS` if the file does not exist. */
export async function readCurrentBasis(directory: Directory, file: FileToRead): Promise<string> {
  try {
    return contentHashOf(await readBytes(directory, file));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return ABSENT_FILE_BASIS;
    throw error;
  }
}

async function readBytes(directory: Directory, { name, path, maxBytes }: FileToRead): Promise<Uint8Array> {
  const limit = Math.min(maxBytes ?? MAX_READ_BYTES, MAX_READ_BYTES);
  const handle = await directory.file(name, constants.O_RDONLY);
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw notRegularFileError(path);
    if (info.size > limit) throw tooLarge(path, limit);
    return await readToEnd(handle, info.size, { path, limit });
  } finally {
    await handle.close();
  }
}

/**
 * Reads to the end of the file. The reported size is not reliable, because the file may grow, and files in /proc report
 * size 0.
 */
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
    // The buffer had space for one more byte, but the read returned none. So the file ends here.
    if (length === size) return buffer.subarray(0, length);
  }
}

/** Decodes the content. @throws ProductError UNSUPPORTED_CONTENT if the content is not text in UTF-8 */
export function decodeFileText({ bytes, path }: Pick<FileContent, 'bytes' | 'path'>): string {
  if (bytes.includes(0)) {
    throw new ProductError('UNSUPPORTED_CONTENT', `"${path}" is a binary file; the file tools work on text.`);
  }
  try {
    // `ignoreBOM: true` keeps a byte order mark, so that a later write does not remove it.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ProductError(
      'UNSUPPORTED_CONTENT',
      `"${path}" is not valid UTF-8; convert it first, for example with iconv in a shell command.`,
      { cause },
    );
  }
}

export function notRegularFileError(path: string): ProductError {
  return new ProductError(
    'UNSUPPORTED_CONTENT',
    `"${path}" is not a regular file (a pipe, socket or device); the file tools do not open it.`,
  );
}

function tooLarge(path: string, limit: number): ProductError {
  return new ProductError(
    'TOO_LARGE',
    `"${path}" is larger than ${limit / 1024 / 1024} MiB; read a part of it with a shell command such as sed -n or tail.`,
  );
}
