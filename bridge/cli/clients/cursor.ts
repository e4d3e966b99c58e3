/**
 * The configuration of Cursor (cursor.com/docs/mcp). The servers are under `mcpServers` in `mcp.json`, of the user or
 * of a project.
 */
import { join } from 'node:path';
import { isWorkspaceFlag, type McpClientProgram } from './client.ts';

export const cursor: McpClientProgram = {
  title: 'Cursor',
  program: 'cursor',
  directory: ({ home }) => join(home, '.cursor'),
  format: 'jsonc',
  places: {
    user: async ({ home }) => ({ path: join(home, '.cursor', 'mcp.json'), section: ['mcpServers'] }),
    project: async ({ cwd }) => ({ path: join(cwd, '.cursor', 'mcp.json'), section: ['mcpServers'] }),
  },
  // An argument names the workspace, because Cursor starts a user's servers in the home directory and ignores `cwd`.
  entry: ({ command, args }) => ({
    type: 'stdio',
    command,
    args: args.some(isWorkspaceFlag) ? args : [...args, '--workspace', '${workspaceFolder}'],
  }),
  nextStep: 'Open Settings, Tools & MCP in Cursor, and switch the bridge on.',
};
