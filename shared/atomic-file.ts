/** Files that appear whole or not at all, for their owner's eyes alone. */
import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { systemErrorCode } from './system-error.ts';

/** Replaces the file, or creates it: a reader sees the old content or the new, never a part of either. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const draft = await writeDraft(path, content);
  try {
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Creates the file with this text. @returns false when it exists already; it is then left as it is. */
export async function createFile(path: string, text: string): Promise<boolean> {
  const draft = await writeDraft(path, text);
  try {
    // A link is made or refused in one step, and the name never stands for a half-written file.
    await link(draft, path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
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
