/**
 * Reads the files that a call attaches to its message. A model writes the calls, and the agent may be remote. So a file
 * must be below a directory that a call may name as its workspace (X2), after symbolic links are resolved.
 */
import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import { fileText, fileTypeOf, MAX_MESSAGE_FILE_BYTES } from '../../shared/protocol/attached-file.ts';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import { type AllowedWorkspaces, checkWorkspace } from '../agents/allowed-workspaces.ts';
import type { AttachedFile } from '../state/outbox-entry.ts';

export interface FileToSend extends AttachedFile {
  content: Uint8Array;
}

interface AttachOptions {
  /** The base of relative paths. */
  directory: string;
  workspaces: AllowedWorkspaces;
  /** It contains tokens, so its files are never sent. */
  stateDirectory: string;
  /** The directories of the client's user (MCP roots). */
  roots: () => Promise<readonly string[]>;
}

/** @throws ProductError FORBIDDEN, MALFORMED, TOO_LARGE, UNSUPPORTED_CONTENT; then nothing was sent */
export async function readAttachedFiles(
  paths: readonly string[],
  { directory, workspaces, stateDirectory, roots }: AttachOptions,
): Promise<FileToSend[]> {
  const files: FileToSend[] = [];
  let total = 0;
  for (const path of paths) {
    const place = await checkWorkspace(resolve(directory, path), workspaces, roots);
    if (place.type === 'outside')
      throw new ProductError(
        'FORBIDDEN',
        `The file ${visibleLine(path)} is outside of ${workspaces.own} and of the directories that the operator allows. Nothing was sent. Copy the file into the workspace, or start the bridge with --allow-workspace.`,
        { facts: { path } },
      );
    const content = await contentOf(path, place.path, {
      most: MAX_MESSAGE_FILE_BYTES - total,
      stateDirectory,
    });
    total += content.length;
    files.push({ ...kindOf(path, content), content });
  }
  return files;
}

/** Opens the resolved path without following a link, because a link there is newer than the check. */
async function contentOf(
  path: string,
  place: string,
  { most, stateDirectory }: { most: number; stateDirectory: string },
): Promise<Uint8Array> {
  const handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      throw unreadable(path, messageOf(error), error);
    },
  );
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw unreadable(path, 'it is not a regular file');
    // A directory above the file may have become a link since the check.
    const now = await stat(place);
    if ((await realpath(place)) !== place || now.ino !== info.ino || now.dev !== info.dev)
      throw unreadable(path, 'its path has changed');
    if (await isIn(stateDirectory, place, info)) throw stateFile(path);
    if (info.size > most) throw tooLarge(path);
    const content = Buffer.alloc(info.size);
    const { bytesRead } = await handle.read(content, 0, content.length, 0);
    return content.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** True for a file below the directory, and for a hard link to one of the files in it. */
async function isIn(directory: string, place: string, { dev, ino }: Stats): Promise<boolean> {
  const resolved = await realpath(directory).catch(() => directory);
  if (place.startsWith(`${resolved}${sep}`)) return true;
  for (const name of await readdir(resolved).catch(() => [])) {
    const info = await stat(join(resolved, name)).catch(() => undefined);
    if (info?.dev === dev && info.ino === ino) return true;
  }
  return false;
}

function stateFile(path: string): ProductError {
  return new ProductError(
    'FORBIDDEN',
    `The file ${visibleLine(path)} is a file of the bridge's own state. Nothing was sent.`,
    { facts: { path } },
  );
}

function kindOf(path: string, content: Uint8Array): AttachedFile {
  const isText = (): boolean => fileText(content) !== undefined;
  const mediaType = fileTypeOf(content) ?? (isText() ? 'text/plain' : undefined);
  if (mediaType === undefined)
    throw new ProductError(
      'UNSUPPORTED_CONTENT',
      `The file ${visibleLine(path)} is not an image (PNG, JPEG, GIF, WebP), a PDF or text in UTF-8. Nothing was sent. Name the file in the task, so that the agent reads it with its own tools.`,
      { facts: { path } },
    );
  const hash = createHash('sha256').update(content).digest('hex');
  return { name: basename(path), mediaType, hash };
}

function unreadable(path: string, why: string, cause?: unknown): ProductError {
  return new ProductError(
    'MALFORMED',
    `The file ${visibleLine(path)} cannot be read: ${why}. Nothing was sent. Check the path.`,
    { facts: { path }, cause },
  );
}

function tooLarge(path: string): ProductError {
  return new ProductError(
    'TOO_LARGE',
    `With ${visibleLine(path)}, the files of this message have more than ${MAX_MESSAGE_FILE_BYTES} bytes. Nothing was sent. Attach smaller files, or name the files in the task, so that the agent reads them with its own tools.`,
    { facts: { path, limit: String(MAX_MESSAGE_FILE_BYTES) } },
  );
}
