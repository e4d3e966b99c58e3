/** Opens a text in the person's editor. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from './exit-codes.ts';

interface EditorText {
  text: string;
  extension: string;
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the person's editor: `$VISUAL` or `$EDITOR`, as POSIX defines. The value is a shell command line. The caller
 * appends the file name.
 */
export function editorOf(env: EditorText['env'], platform: NodeJS.Platform = process.platform): string {
  return env['VISUAL'] || env['EDITOR'] || (platform === 'win32' ? 'notepad' : 'vi');
}

/**
 * Opens the text in an editor, and returns the text that the person saved.
 * @throws UsageError if the editor does not start, or exits with an error (`:cq`)
 */
export async function editInEditor({ text, extension, env }: EditorText): Promise<string> {
  const editor = editorOf(env);
  const directory = await mkdtemp(join(tmpdir(), 'mcp-a2a-bridge-edit-'));
  const file = join(directory, `edit${extension}`);
  try {
    await writeFile(file, text, { mode: 0o600 });
    const child = spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    if (code !== 0)
      throw new UsageError(
        `The editor (${editor}) ended with ${String(code)}, so nothing was decided. EDITOR names another.`,
      );
    return await readFile(file, 'utf8');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
