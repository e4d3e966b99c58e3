/** The configuration of an MCP client: its files, and the format of a server's entry. */
import { homedir } from 'node:os';

export const SCOPES = ['user', 'project', 'local'] as const;
/** `user`: this user everywhere. `project`: everyone in this directory. `local`: this user in this directory. */
export type Scope = (typeof SCOPES)[number];

export interface ClientEnvironment {
  env: Readonly<Record<string, string | undefined>>;
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

/** The file and the section for the servers of one scope. */
interface ConfigPlace {
  path: string;
  /** The keys that lead to the table of servers. */
  section: readonly string[];
}

/** The command that starts the bridge. */
export interface ServerCommand {
  command: string;
  args: readonly string[];
}

export interface McpClient {
  title: string;
  /** The client's program, as in PATH. */
  program: string;
  /** The directory that the client creates for its own files. */
  directory: (around: ClientEnvironment) => string;
  /** The client treats comments in `json` as an error, so the bridge does too. */
  format: 'json' | 'jsonc' | 'toml';
  /** A client may lack some scopes. */
  places: Readonly<Partial<Record<Scope, (around: ClientEnvironment) => Promise<ConfigPlace>>>>;
  entry: (server: ServerCommand) => Readonly<Record<string, unknown>>;
  /** Keys for a new entry. A value that the user has set does not change. */
  defaults?: Readonly<Record<string, unknown>>;
  /** The table of the enabled plugins, by name. A client may have none. */
  plugins?: (around: ClientEnvironment) => Pick<McpClient, 'format'> & ConfigPlace;
  nextStep: string;
}
