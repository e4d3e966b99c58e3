/** Where this user's state lives: the journal, the token, the address of the running server, the bridge's outbox. */
import { mkdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { messageOf, ProductError } from './errors.ts';

const NAME = 'mcp-a2a-bridge';

/** The variable that places the state directory, for both programs. */
export const STATE_DIRECTORY_VARIABLE = 'MCP_A2A_BRIDGE_HOME';

export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  home: string;
}

export const thisMachine = (): Surroundings => ({
  env: process.env,
  platform: process.platform,
  home: homedir(),
});

/**
 * The state directory: `MCP_A2A_BRIDGE_HOME`, or else the user's own directory for program state on this platform.
 * XDG Base Directory Specification: a relative `XDG_STATE_HOME` is invalid and is ignored.
 */
export function stateDirectory({ env, platform, home }: Surroundings = thisMachine()): string {
  const chosen = env[STATE_DIRECTORY_VARIABLE];
  if (chosen !== undefined && chosen !== '') return chosen;
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), NAME);
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', NAME);
  const xdg = env['XDG_STATE_HOME'];
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, '.local', 'state'), NAME);
}

/**
 * Makes the directory, readable by its owner alone (0700), where it does not exist.
 * @throws ProductError CONFIGURATION when it cannot be made, is no directory, or lets other users in.
 */
export async function prepareStateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(path, messageOf(error), error);
  }
  const found = await stat(path);
  if (!found.isDirectory()) throw unusable(path, 'it is not a directory');
  if (process.platform === 'win32') return;
  if (process.getuid && found.uid !== process.getuid()) throw unusable(path, 'it belongs to another user');
  // The token in it is worth as much as the account: a directory others can write to could have it replaced.
  if ((found.mode & 0o022) !== 0) throw unusable(path, `other users may write to it; run: chmod 700 ${path}`);
}

function unusable(path: string, problem: string, cause?: unknown): ProductError {
  return new ProductError(
    'CONFIGURATION',
    `The state directory ${path} cannot be used: ${problem}. Choose another with --state-dir or ${STATE_DIRECTORY_VARIABLE}.`,
    { facts: { path }, cause },
  );
}
