/**
 * The configuration of Claude Code (code.claude.com/docs/en/mcp). The servers of the scopes user and local are in
 * `.claude.json`, in the home directory or in `CLAUDE_CONFIG_DIR`. The servers of a project are in `.mcp.json` in the
 * project's root.
 */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type ClientEnvironment, type McpClientProgram, shortTimeoutWarnings } from './client.ts';
import { readProjectKey } from './project-key.ts';

export const claude: McpClientProgram = {
  title: 'Claude Code',
  program: 'claude',
  directory: settingsDirectory,
  format: 'json',
  places: {
    user: async (around) => ({ path: await ownFile(around), section: ['mcpServers'] }),
    project: async ({ cwd }) => ({ path: join(cwd, '.mcp.json'), section: ['mcpServers'] }),
    local: async (around) => ({
      path: await ownFile(around),
      section: ['projects', await readProjectKey(around.cwd), 'mcpServers'],
    }),
  },
  // `install` sets no time limit, because the defaults of Claude Code are long enough: a tool call may take 28 hours,
  // or 30 minutes without progress.
  entry: ({ command, args }) => ({ type: 'stdio', command, args }),
  hazards: ({ timeout }) => shortTimeoutWarnings('timeout', timeout),
  plugins: (around) => ({
    path: join(settingsDirectory(around), 'settings.json'),
    section: ['enabledPlugins'],
    format: 'jsonc',
  }),
  nextStep: 'Restart Claude Code, then check the bridge with /mcp.',
  projectNote: 'Claude Code first asks you to approve the server.',
};

function settingsDirectory({ env, home }: ClientEnvironment): string {
  return env['CLAUDE_CONFIG_DIR'] || join(home, '.claude');
}

/**
 * Returns the path of the user's own file. If a file with the older name exists in the settings directory, Claude Code
 * uses that file.
 */
async function ownFile(around: ClientEnvironment): Promise<string> {
  const older = join(settingsDirectory(around), '.config.json');
  const exists = await access(older).then(
    () => true,
    () => false,
  );
  return exists ? older : join(around.env['CLAUDE_CONFIG_DIR'] || around.home, '.claude.json');
}
