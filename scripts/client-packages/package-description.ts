/** The facts about the bridge that every package for a client has, and the command with which a client starts the bridge. */
import { z } from 'zod';
import type { BridgeStartCommand } from '../../bridge/cli/clients/client.ts';

/** The name of each plugin and of its MCP server. It is the name that `install` uses. */
export const NAME = 'a2a-bridge';
export const TITLE = 'A2A Bridge';
export const AUTHOR = { name: 'mcp-a2a-bridge maintainers' };
export const KEYWORDS = ['mcp', 'a2a', 'agents', 'delegation', 'approvals'];
/** At most 100 characters, which is the limit of the MCP registry. */
export const SHORT_DESCRIPTION =
  'Hand work to an A2A agent, approve each risky step, walk away, come back, lose nothing.';

/** How a client gets the program. */
export type Origin =
  /** The package contains the program, as built in this clone. */
  | { type: 'bundled' }
  /** `npx` gets the published version. */
  | { type: 'published'; repository: string; mcpName: string };
export type Published = Extract<Origin, { type: 'published' }>;

export interface PackageDescription {
  version: string;
  description: string;
  license: string;
  /** The versions of Node that can run the program. */
  node: string;
  origin: Origin;
}

/** The text of each file of a package, by its path. */
export type PackageFiles = Readonly<Record<string, string>>;

const packageJson = z.object({
  version: z.string(),
  description: z.string(),
  license: z.string(),
  engines: z.object({ node: z.string() }),
});
const releasedPackageJson = z.object({
  repository: z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)]),
  mcpName: z.string(),
});

/**
 * Reads the description from the text of package.json.
 * @param release true if the packages start the published version
 * @throws Error for a release without `repository` or `mcpName`
 */
export function describePackage(text: string, { release }: { release: boolean }): PackageDescription {
  const json: unknown = JSON.parse(text);
  const { version, description, license, engines } = packageJson.parse(json);
  const about = { version, description, license, node: engines.node };
  if (!release) return { ...about, origin: { type: 'bundled' } };
  const released = releasedPackageJson.safeParse(json);
  if (!released.success)
    throw new Error(
      'A release needs the public repository. Run: npm pkg set repository=https://github.com/<owner>/<name> mcpName=io.github.<owner>/mcp-a2a-bridge',
    );
  const { repository, mcpName } = released.data;
  return { ...about, origin: { type: 'published', repository, mcpName } };
}

/** The directory of the program in a package that contains it. */
export const PROGRAM_DIRECTORY = 'program';

/**
 * Returns the command that starts the bridge.
 * @param root the directory of the package, or the client's variable for it
 */
export function bridgeCommand({ origin, version }: PackageDescription, root: string): BridgeStartCommand {
  switch (origin.type) {
    case 'bundled':
      return { command: 'node', args: [`${root}/${PROGRAM_DIRECTORY}/dist/bridge/main.js`] };
    case 'published':
      return { command: 'npx', args: ['-y', `mcp-a2a-bridge@${version}`] };
  }
}

/** Returns the fields that the manifest of each plugin has. The repository is among them once it is public. */
export function manifestFields({ version, license, origin }: PackageDescription) {
  return {
    name: NAME,
    version,
    author: AUTHOR,
    license,
    keywords: KEYWORDS,
    ...(origin.type === 'published' && { repository: origin.repository }),
  };
}

/** Returns JSON text as a file has it. */
export function jsonFile(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
