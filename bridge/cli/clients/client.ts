/** An MCP client's configuration: its files, and the form of a server's entry. */
import { homedir } from 'node:os';

export const SCOPES = ['user', 'project', 'local'] as const;
/** `user`: this user everywhere. `project`: everyone in this directory. `local`: this user in this directory. */
export type Scope = (typeof SCOPES)[number];

export interface ClientEnvironment {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  home: string;
  /** The directory of the project. */
  cwd: string;
}

export const clientEnvironment = (): ClientEnvironment => ({
  env: process.env,
  platform: process.platform,
  home: homedir(),
  cwd: process.cwd(),
});

/** The file of a client's servers for one scope, and the place in that file. */
interface ConfigPlace {
  /** Absolute. */
  path: string;
  /** The keys of the table of servers. */
  section: readonly string[];
}

/** The command that starts a server over stdio. */
interface ServerCommand {
  command: string;
  args: readonly string[];
}

export interface McpClient {
  title: string;
  /** With `json`, comments are an error, as in the client itself. */
  format: 'json' | 'jsonc' | 'toml';
  /** Only the scopes that the client has. */
  places: Readonly<Partial<Record<Scope, (around: ClientEnvironment) => Promise<ConfigPlace>>>>;
  entry: (server: ServerCommand) => Readonly<Record<string, unknown>>;
  /** Keys for a new entry. A value that the user has set stays. */
  defaults?: Readonly<Record<string, unknown>>;
  /** The person's next step. */
  nextStep: string;
}
