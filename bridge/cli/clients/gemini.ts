/**
 * The configuration of Gemini CLI (geminicli.com/docs/tools/mcp-server). The servers are under `mcpServers` in
 * `settings.json`, which is JSON with comments.
 */
import { join } from 'node:path';
import {
  type ClientEnvironment,
  type McpClientProgram,
  shortTimeoutWarnings,
  TOOL_CALL_TIMEOUT_SECONDS,
} from './client.ts';

export const gemini: McpClientProgram = {
  title: 'Gemini CLI',
  program: 'gemini',
  directory: ownDirectory,
  format: 'jsonc',
  places: {
    user: async (around) => ({ path: join(ownDirectory(around), 'settings.json'), section: ['mcpServers'] }),
    project: async ({ cwd }) => ({ path: join(cwd, '.gemini', 'settings.json'), section: ['mcpServers'] }),
  },
  entry: ({ command, args }) => ({ command, args }),
  defaults: {
    // The time limit of a tool call in milliseconds. Gemini CLI's own limit is ten minutes, which is too short.
    timeout: TOOL_CALL_TIMEOUT_SECONDS * 1000,
    // If `trust` were true, Gemini CLI would run each tool without asking, even the tool that approves actions.
    trust: false,
  },
  hazards: ({ timeout, trust }) => [
    ...shortTimeoutWarnings('timeout', timeout),
    ...(trust === true
      ? ['"trust" lets Gemini CLI run each tool without asking you, including the tool that approves actions']
      : []),
  ],
  plugins: (around) => ({
    path: join(ownDirectory(around), 'extensions', 'extension-enablement.json'),
    section: [],
    format: 'jsonc',
  }),
  nextStep:
    'Restart Gemini CLI, then check the bridge with /mcp. Gemini CLI starts no server in a folder that you do not trust.',
};

function ownDirectory({ env, home }: ClientEnvironment): string {
  return join(env['GEMINI_CLI_HOME'] || home, '.gemini');
}
