/** Shows and runs a tool like the executor, in a temporary directory. */
import type { PreviewWithBasis, Tool, ToolResult, ToolRun } from '../../../../a2a-server/tools/tool.ts';
import { openWorkspace, type Workspace } from '../../../../a2a-server/tools/workspace/workspace.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { toolRun } from '../../../support/tool-run.ts';

export interface ToolInWorkspace {
  root: string;
  workspace: Workspace;
  show: (tool: Tool, input: unknown) => Promise<PreviewWithBasis>;
  /** Runs the tool. By default the call has no code of the shown content. */
  run: (tool: Tool, input: unknown, run?: Partial<ToolRun>) => Promise<ToolResult>;
  /** Makes the preview, and then runs the tool for the content of that preview, like an approved call. */
  showAndRun: (tool: Tool, input: unknown) => Promise<ToolResult>;
}

export async function toolInWorkspace(): Promise<ToolInWorkspace> {
  const root = await temporaryDirectory();
  const workspace = await openWorkspace(root);
  const signal = new AbortController().signal;
  const given = { principal: 'ada', workspace, signal };
  const show = (tool: Tool, input: unknown) => tool.show(input, given);
  const run = (tool: Tool, input: unknown, more: Partial<ToolRun> = {}) =>
    tool.run(input, toolRun({ ...given, ...more }));
  return {
    root,
    workspace,
    show,
    run,
    showAndRun: async (tool, input) => run(tool, input, { basis: (await show(tool, input)).basis }),
  };
}

/** Polls until a condition holds. Use it only for changes without an event, such as another process's file. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
