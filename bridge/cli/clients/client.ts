/** An MCP client's configuration: where it is, and how a server is written down in it. Each client has a file of its own. */
import { homedir } from 'node:os';

export const SCOPES = ['user', 'project', 'local'] as const;
/** For this user everywhere; for everybody who works in this directory; for this user in this directory. */
export type Scope = (typeof SCOPES)[number];

export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  home: string;
  /** The directory of the project. */
  cwd: string;
}

export const thisPlace = (): Surroundings => ({
  env: process.env,
  platform: process.platform,
  home: homedir(),
  cwd: process.cwd(),
});

/** Where a client keeps its servers in one scope. */
export interface ConfigPlace {
  /** Absolute. */
  path: string;
  /** The keys that lead to the table of servers. */
  section: readonly string[];
}

/** How a server is started over stdio. */
export interface ServerCommand {
  command: string;
  args: readonly string[];
}

export interface McpClient {
  title: string;
  /** `json` is refused with comments in it, as the client itself would refuse it. */
  format: 'json' | 'jsonc' | 'toml';
  /** Scopes the client does not have are left out. */
  places: Readonly<Partial<Record<Scope, (around: Surroundings) => Promise<ConfigPlace>>>>;
  entry: (server: ServerCommand) => Readonly<Record<string, unknown>>;
  /** What the person does now. */
  nextStep: string;
}
