/**
 * The configuration of VS Code (code.visualstudio.com/docs/agents/reference/mcp-configuration). The servers are under
 * the key `servers` in `mcp.json`. The file is in the user's default profile or in a workspace.
 */
import { join } from 'node:path';
import { type ClientEnvironment, isWorkspaceFlag, type McpClientProgram } from './client.ts';

export const vscode: McpClientProgram = {
  title: 'VS Code',
  program: 'code',
  directory: userData,
  format: 'jsonc',
  places: {
    user: async (around) => ({ path: join(userData(around), 'User', 'mcp.json'), section: ['servers'] }),
    project: async ({ cwd }) => ({ path: join(cwd, '.vscode', 'mcp.json'), section: ['servers'] }),
  },
  // VS Code starts a user's server in the home directory, and replaces ${workspaceFolder} only in the file of a
  // workspace. But it reports the open folders as MCP roots (observed with VS Code 1.139, as code-server). So the
  // bridge finds the workspace by these roots.
  entry: ({ command, args }) => ({
    type: 'stdio',
    command,
    args: args.some(isWorkspaceFlag) ? args : [...args, '--workspace-from-roots'],
  }),
  nextStep: 'Open a folder in VS Code, run "MCP: List Servers", and start the bridge.',
};

/** Returns the directory with the user's data. The order of the checks is that of VS Code. */
function userData({ env, platform, home }: ClientEnvironment): string {
  const portable = env['VSCODE_PORTABLE'];
  if (portable !== undefined && portable !== '') return join(portable, 'user-data');
  return join(env['VSCODE_APPDATA'] || applicationData({ env, platform, home }), 'Code');
}

function applicationData({ env, platform, home }: Omit<ClientEnvironment, 'cwd'>): string {
  if (platform === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  return env['XDG_CONFIG_HOME'] || join(home, '.config');
}
