/** Writes files atomically. Only their owner can read them, unless the caller says otherwise. */
import { randomBytes } from 'node:crypto';
import { chmod, link, open, rename, rm } from 'node:fs/promises';
import { errorCode } from '../runtime/errors.ts';

interface ReplaceOptions {
  /** The permission bits of the file. */
  mode?: number;
  /**
   * Called after the content is on the disk, and just before it replaces the file. If this callback throws, the file
   * stays as it is.
   */
  check?: () => Promise<void>;
}

/** Creates or replaces the file. A concurrent reader sees either the whole old content or the whole new content. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode, check }: ReplaceOptions = {},
): Promise<void> {
  const draft = await writeDraft(path, content);
  try {
    if (mode !== undefined) await chmod(draft, mode);
    await check?.();
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Creates the file with this text. If the file already exists, changes nothing and returns false. */
export async function tryCreateFile(path: string, text: string): Promise<boolean> {
  const draft = await writeDraft(path, text);
  try {
    // `link` is atomic, and fails if the name exists. So the name never refers to a half-written file.
    await link(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeDraft(path: string, content: string | Uint8Array): Promise<string> {
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return draft;
}
