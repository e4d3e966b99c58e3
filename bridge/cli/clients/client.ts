/** Describes the configuration of an MCP client: its files, its entry for the bridge, and what makes an entry unsafe. */
import { homedir } from 'node:os';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { FORM_TIMEOUT_MS } from '../../approvals/form-timeout.ts';

export const CONFIG_SCOPES = ['user', 'project', 'local'] as const;
/**
 * Where an entry is valid. `user`: for this user in every directory. `project`: for everyone in this directory.
 * `local`: for this user in this directory.
 */
export type ConfigScope = (typeof CONFIG_SCOPES)[number];

export interface ClientEnvironment {
  env: Environment;
  platform: NodeJS.Platform;
  home: string;
  cwd: string;
}

export const clientEnvironment = (): ClientEnvironment => ({
  env: process.env,
  platform: process.platform,
  home: homedir(),
  cwd: process.cwd(),
});

/** The file and the section that contain the servers of one scope. */
interface ConfigPlace {
  path: string;
  /** The keys on the path to the table of servers in the file. */
  section: readonly string[];
}

/** The command with which a client starts the bridge. */
export interface BridgeStartCommand {
  command: string;
  args: readonly string[];
}

export interface McpClientProgram {
  title: string;
  /** The name of the client's program, as in PATH. */
  program: string;
  /** Returns the directory that the client creates for its own files. */
  directory: (around: ClientEnvironment) => string;
  /**
   * The format of the configuration files. `json` means without comments: the client treats comments as an error, so
   * the bridge does too.
   */
  format: 'json' | 'jsonc' | 'toml';
  /** The file of each scope. Some clients do not have all scopes. */
  places: Readonly<Partial<Record<ConfigScope, (around: ClientEnvironment) => Promise<ConfigPlace>>>>;
  entry: (server: BridgeStartCommand) => Readonly<Record<string, unknown>>;
  /** Keys that a new entry also gets. If the user has set such a key, its value does not change. */
  defaults?: Readonly<Record<string, unknown>>;
  /**
   * Returns warnings about an entry that the user has changed: about keys that are unsafe, or that end long tool calls.
   * Each is a clause without a full stop.
   */
  hazards?: (entry: Readonly<Record<string, unknown>>) => readonly string[];
  /**
   * Returns where the table of enabled plugins is: its file, its keys and its format. Absent if the client has no
   * plugins.
   */
  plugins?: (around: ClientEnvironment) => Pick<McpClientProgram, 'format'> & ConfigPlace;
  nextStep: string;
  /** What the person must also know about an entry with the scope `project`. */
  projectNote?: string;
}

/** Returns true if an argument of the bridge names the workspace. */
export function isWorkspaceFlag(arg: string): boolean {
  return /^--workspace(-from-roots)?(=|$)/.test(arg);
}

/** The time limit that `install` writes, in seconds. It is longer than `FORM_TIMEOUT_MS`. */
export const TOOL_CALL_TIMEOUT_SECONDS = 900;

/**
 * Returns a warning if the client's time limit ends a tool call before the person has had time to answer.
 * @param timeoutMs the client's time limit in milliseconds. A value of another type is ignored, because the client checks
 * it.
 */
export function shortTimeoutWarnings(key: string, timeoutMs: unknown): readonly string[] {
  if (typeof timeoutMs !== 'number' || timeoutMs > FORM_TIMEOUT_MS) return [];
  return [
    `each call ends after ${String(timeoutMs / 1000)} s ("${key}"), but it may wait ${String(FORM_TIMEOUT_MS / 60_000)} minutes for your answer`,
  ];
}
