/** Gemini CLI (geminicli.com/docs/tools/mcp-server): `mcpServers` of `settings.json`, JSON with comments. */
import { join } from 'node:path';
import type { McpClient } from './client.ts';

const SETTINGS = ['.gemini', 'settings.json'] as const;

export const gemini: McpClient = {
  title: 'Gemini CLI',
  format: 'jsonc',
  places: {
    user: async ({ env, home }) => ({
      path: join(env['GEMINI_CLI_HOME'] || home, ...SETTINGS),
      section: ['mcpServers'],
    }),
    project: async ({ cwd }) => ({ path: join(cwd, ...SETTINGS), section: ['mcpServers'] }),
  },
  entry: ({ command, args }) => ({ command, args }),
  nextStep:
    'Start Gemini CLI again, and see it with /mcp. In a folder that you have not trusted, it starts no server.',
};
