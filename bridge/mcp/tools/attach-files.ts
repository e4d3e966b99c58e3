import type { Attachments } from '../../sessions/attached-files.ts';
import type { ToolCall } from '../tool/tool.ts';

/** Reads the files that a tool call attaches. @throws ProductError if a file cannot be sent. Nothing is sent then. */
export async function attachFiles(
  { bridge, client, signal }: ToolCall,
  {
    files = [],
    directory = bridge.workspaces.own,
  }: { files?: readonly string[] | undefined; directory: string | undefined },
): Promise<Attachments> {
  if (files.length === 0) return {};
  const { attachmentsOf, readAttachedFiles } = await import('../../sessions/attached-files.ts');
  const read = await readAttachedFiles(files, {
    directory,
    workspaces: bridge.workspaces,
    stateDirectory: bridge.stateDirectory,
    roots: () => client.roots(signal),
  });
  return attachmentsOf(read);
}
