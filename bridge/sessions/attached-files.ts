/**
 * Reads the files that a tool call attaches to its message. The model chooses the files, and the agent may be on
 * another machine. X2: no file outside of the workspace may be read. So each file must be below an allowed workspace,
 * after symbolic links are resolved.
 */
import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import {
  decodeUtf8Text,
  fileMediaTypeOf,
  MAX_MESSAGE_FILE_BYTES,
} from '../../shared/protocol/attached-file.ts';
import { type ErrorReason, ProductError } from '../../shared/runtime/errors.ts';
import { fileProblem } from '../../shared/runtime/file-problem.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import { type AllowedCallWorkspaces, checkWorkspace } from '../agents/check-workspace.ts';
import type { AttachedFile, DelegatedWork } from '../state/outbox-entry.ts';

export interface AttachedFileWithContent extends AttachedFile {
  content: Uint8Array;
}

/**
 * The attached files as a part of delegated work: their descriptions, and their contents by hash. Empty without files.
 */
export type Attachments = Pick<DelegatedWork, 'files' | 'contents'>;

interface AttachOptions {
  /** The directory in which relative paths start. */
  directory: string;
  workspaces: AllowedCallWorkspaces;
  /** The state directory. It contains tokens, so its files are never sent. */
  stateDirectory: string;
  /** Returns the directories of the client's MCP roots. */
  roots: () => Promise<readonly string[]>;
}

/**
 * Reads the files that a tool call attaches, and checks that the bridge may send them.
 * @throws ProductError FORBIDDEN, MALFORMED, TOO_LARGE, UNSUPPORTED_CONTENT. Nothing is sent then.
 */
export async function readAttachedFiles(
  paths: readonly string[],
  { directory, workspaces, stateDirectory, roots }: AttachOptions,
): Promise<AttachedFileWithContent[]> {
  const files: AttachedFileWithContent[] = [];
  let total = 0;
  for (const path of paths) {
    const place = await checkWorkspace(resolve(directory, path), workspaces, roots);
    if (place.type === 'outside')
      throw fileError(
        'FORBIDDEN',
        path,
        `is outside of ${workspaces.own} and of the directories that the operator allows. Nothing was sent. Copy the file into the workspace, or start the bridge with --allow-workspace.`,
      );
    const content = await contentOf(path, place.path, {
      most: MAX_MESSAGE_FILE_BYTES - total,
      stateDirectory,
    });
    total += content.length;
    files.push({ ...toAttachedFile(path, content), content });
  }
  return files;
}

export function toAttachments(files: readonly AttachedFileWithContent[]): Attachments {
  if (files.length === 0) return {};
  return {
    files: files.map(({ name, mediaType, hash }) => ({ name, mediaType, hash })),
    contents: new Map(files.map(({ hash, content }) => [hash, content])),
  };
}

/** Reads a file. Refuses a symbolic link at the resolved path, because such a link was created after the check. */
async function contentOf(
  path: string,
  place: string,
  { most, stateDirectory }: { most: number; stateDirectory: string },
): Promise<Uint8Array> {
  const handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      throw unreadableFileError(path, fileProblem(error), error);
    },
  );
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw unreadableFileError(path, 'it is not a regular file');
    // Checks the path again, because a directory above the file may have been replaced by a symbolic link meanwhile.
    const now = await stat(place);
    if ((await realpath(place)) !== place || now.ino !== info.ino || now.dev !== info.dev)
      throw unreadableFileError(path, 'its path has changed');
    if (await isIn(stateDirectory, place, info))
      throw fileError('FORBIDDEN', path, "is a file of the bridge's own state. Nothing was sent.");
    if (info.size > most) throw fileTooLargeError(path);
    const content = Buffer.alloc(info.size);
    const { bytesRead } = await handle.read(content, 0, content.length, 0);
    return content.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Returns true if the file is below the directory, or is a hard link to a file directly in it. */
async function isIn(directory: string, place: string, { dev, ino }: Stats): Promise<boolean> {
  const resolved = await realpath(directory).catch(() => directory);
  if (place.startsWith(`${resolved}${sep}`)) return true;
  for (const name of await readdir(resolved).catch(() => [])) {
    const info = await stat(join(resolved, name)).catch(() => undefined);
    if (info?.dev === dev && info.ino === ino) return true;
  }
  return false;
}

/** @param rest the rest of the sentence, after the name of the file */
function fileError(reason: ErrorReason, path: string, rest: string, cause?: unknown): ProductError {
  return new ProductError(reason, `The file ${visibleLine(path)} ${rest}`, { facts: { path }, cause });
}

function toAttachedFile(path: string, content: Uint8Array): AttachedFile {
  const isText = (): boolean => decodeUtf8Text(content) !== undefined;
  const mediaType = fileMediaTypeOf(content) ?? (isText() ? 'text/plain' : undefined);
  if (mediaType === undefined)
    throw fileError(
      'UNSUPPORTED_CONTENT',
      path,
      'is not an image (PNG, JPEG, GIF, WebP), a PDF or text in UTF-8. Nothing was sent. Name the file in the task, so that the agent reads it with its own tools.',
    );
  const hash = createHash('sha256').update(content).digest('hex');
  return { name: basename(path), mediaType, hash };
}

function unreadableFileError(path: string, why: string, cause?: unknown): ProductError {
  return fileError('MALFORMED', path, `cannot be read: ${why}. Nothing was sent. Check the path.`, cause);
}

function fileTooLargeError(path: string): ProductError {
  return new ProductError(
    'TOO_LARGE',
    `With ${visibleLine(path)}, the files of this message have more than ${MAX_MESSAGE_FILE_BYTES} bytes. Nothing was sent. Attach smaller files, or name the files in the task, so that the agent reads them with its own tools.`,
    { facts: { path, limit: String(MAX_MESSAGE_FILE_BYTES) } },
  );
}
