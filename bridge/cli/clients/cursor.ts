/** Cursor (cursor.com/docs/mcp): `mcpServers` of `mcp.json`, of the user or of a project. */
import { join } from 'node:path';
import type { McpClient } from './client.ts';

export const cursor: McpClient = {
  title: 'Cursor',
  format: 'jsonc',
  places: {
    user: async ({ home }) => ({ path: join(home, '.cursor', 'mcp.json'), section: ['mcpServers'] }),
    project: async ({ cwd }) => ({ path: join(cwd, '.cursor', 'mcp.json'), section: ['mcpServers'] }),
  },
  entry: ({ command, args }) => ({ type: 'stdio', command, args }),
  nextStep: 'See it in Cursor under Settings, Tools & MCP; switch it on there.',
};
