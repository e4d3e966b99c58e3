/**
 * The configuration of Codex (developers.openai.com/codex/mcp). Each server is a table `mcp_servers.<name>` in
 * `config.toml`. The file is in `CODEX_HOME` for the user, or in a trusted project.
 */
import { join } from 'node:path';
import {
  type ClientEnvironment,
  type McpClientProgram,
  shortTimeoutWarnings,
  TOOL_CALL_TIMEOUT_SECONDS,
} from './client.ts';

/** The time limit of a tool call in Codex in seconds, if the entry contains none. */
const CODEX_TIMEOUT_SECONDS = 60;

export const codex: McpClientProgram = {
  title: 'Codex',
  program: 'codex',
  directory: codexHome,
  format: 'toml',
  places: {
    user: async (around) => ({ path: join(codexHome(around), 'config.toml'), section: ['mcp_servers'] }),
    project: async ({ cwd }) => ({ path: join(cwd, '.codex', 'config.toml'), section: ['mcp_servers'] }),
  },
  entry: ({ command, args }) => ({ command, args }),
  defaults: {
    // Without this key, Codex may send its first request to the model before the bridge has started. The model would
    // not have the bridge's tools then.
    required: true,
    // At the first start, `npx` may have to download the bridge.
    startup_timeout_sec: 120,
    tool_timeout_sec: TOOL_CALL_TIMEOUT_SECONDS,
  },
  hazards: ({ tool_timeout_sec: seconds = CODEX_TIMEOUT_SECONDS }) =>
    shortTimeoutWarnings('tool_timeout_sec', typeof seconds === 'number' ? seconds * 1000 : seconds),
  plugins: (around) => ({
    path: join(codexHome(around), 'config.toml'),
    section: ['plugins'],
    format: 'toml',
  }),
  nextStep: 'Restart Codex, then check the bridge with /mcp.',
  projectNote: 'Codex reads the servers of a project only if you trust the project.',
};

function codexHome({ env, home }: ClientEnvironment): string {
  return env['CODEX_HOME'] || join(home, '.codex');
}
