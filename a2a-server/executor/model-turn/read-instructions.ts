/** Reads the workspace's instruction files for agents, e.g. AGENTS.md. */
import { chooseInstructions, INSTRUCTION_FILES, type InstructionFile } from '../../task/instructions.ts';
import type { TextFile } from '../../tools/workspace/text-file.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';

/** @param limit the maximum number of characters of all files together */
export async function readInstructions(workspace: Workspace, limit: number): Promise<InstructionFile[]> {
  const found = await Promise.all(INSTRUCTION_FILES.map((path) => readFile(workspace, path)));
  return chooseInstructions(
    found.filter((file) => file !== undefined),
    limit,
  );
}

/**
 * Reads one instruction file. Returns undefined if the task cannot read it, e.g. a directory, a binary file or a link
 * to outside.
 */
async function readFile(
  workspace: Workspace,
  path: string,
): Promise<Pick<TextFile, 'path' | 'bytes' | 'content'> | undefined> {
  const file = await workspace.read(path).catch(() => undefined);
  return file && { ...file, path };
}
