/** Cursor (cursor.com/docs/mcp): `mcpServers` of `mcp.json`, of the user or of a project. */
import { join } from 'node:path';
import type { McpClient } from './client.ts';

export const cursor: McpClient = {
  title: 'Cursor',
  program: 'cursor',
  directory: ({ home }) => join(home, '.cursor'),
  format: 'jsonc',
  places: {
    user: async ({ home }) => ({ path: join(home, '.cursor', 'mcp.json'), section: ['mcpServers'] }),
    project: async ({ cwd }) => ({ path: join(cwd, '.cursor', 'mcp.json'), section: ['mcpServers'] }),
  },
  // Cursor starts a user's server in the home directory, and ignores `cwd`. So an argument names the workspace.
  entry: ({ command, args }) => ({
    type: 'stdio',
    command,
    args: args.some(namesWorkspace) ? args : [...args, '--workspace', '${workspaceFolder}'],
  }),
  nextStep: 'See it in Cursor under Settings, Tools & MCP; switch it on there.',
};

function namesWorkspace(arg: string): boolean {
  return arg === '--workspace' || arg.startsWith('--workspace=');
}
