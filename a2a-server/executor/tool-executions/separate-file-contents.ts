/** Separates the file contents from a tool's result. The journal stores them separately from the event. */
import type { FileBytes } from '../../journal/journal.ts';
import { sha256 } from '../../../shared/runtime/sha256.ts';
import type { ToolOutcome } from '../../task/events.ts';
import type { ToolResult } from '../../tools/tool.ts';

interface SeparatedResult {
  success: Omit<Extract<ToolOutcome, { type: 'ok' }>, 'type'>;
  contents: FileBytes[];
}

export function separateFileContents({ files = [], ...success }: ToolResult): SeparatedResult {
  if (files.length === 0) return { success, contents: [] };
  const hashed = files.map((file) => ({
    ...file,
    hash: sha256(file.bytes),
  }));
  return {
    success: { ...success, files: hashed.map(({ bytes, ...file }) => ({ ...file, bytes: bytes.length })) },
    contents: hashed.map(({ hash, bytes }) => ({ hash, bytes })),
  };
}
