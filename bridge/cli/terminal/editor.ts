/** Opens a text in the person's editor. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { UsageError } from './exit-codes.ts';

interface EditorText {
  text: string;
  extension: string;
  env: Environment;
}

/**
 * Returns the person's editor: `$VISUAL` or `$EDITOR`, as POSIX defines. The value is a shell command line. The caller
 * appends the file name.
 */
export function editorOf(env: EditorText['env'], platform: NodeJS.Platform = process.platform): string {
  return env['VISUAL'] || env['EDITOR'] || (platform === 'win32' ? 'notepad' : 'vi');
}

/** Returns true if the person has chosen an editor. Such an editor may work without a terminal, unlike `vi`. */
export function hasOwnEditor(env: EditorText['env']): boolean {
  return Boolean(env['VISUAL'] || env['EDITOR']);
}

/** The text that the person saved. The file exists until `remove` is called. */
export interface EditedFile {
  text: string;
  file: string;
  remove: () => Promise<void>;
}

/**
 * Opens the text in an editor.
 * @throws UsageError if the editor does not start, or exits with an error (e.g. after `:cq` in vi)
 */
export async function editInEditor({ text, extension, env }: EditorText): Promise<EditedFile> {
  const editor = editorOf(env);
  const directory = await mkdtemp(join(tmpdir(), 'mcp-a2a-bridge-edit-'));
  const file = join(directory, `edit${extension}`);
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    await writeFile(file, text, { mode: 0o600 });
    const child = spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit' });
    await once(child, 'exit');
    const { exitCode, signalCode } = child;
    if (exitCode !== 0)
      throw new UsageError(
        `The editor (${editor}) ${signalCode === null ? `ended with ${String(exitCode)}` : `was ended by ${signalCode}`}, so nothing was decided. EDITOR names another.`,
      );
    return { text: await readFile(file, 'utf8'), file, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
