/** The entry of the MCP registry, `server.json` (github.com/modelcontextprotocol/registry, docs/reference/server-json). */
import {
  jsonFile,
  SHORT_DESCRIPTION,
  TITLE,
  type PackageDescription,
  type PackageFiles,
  type Published,
} from './package-description.ts';

/**
 * Returns the entry for a published version. The registry checks that its name is `mcpName` of the published
 * package.json.
 */
export function registryEntry(
  { version }: PackageDescription,
  { repository, mcpName }: Published,
): PackageFiles {
  return {
    'server.json': jsonFile({
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: mcpName,
      title: TITLE,
      description: SHORT_DESCRIPTION,
      version,
      repository: { url: repository, source: 'github' },
      packages: [
        {
          registryType: 'npm',
          registryBaseUrl: 'https://registry.npmjs.org',
          identifier: 'mcp-a2a-bridge',
          version,
          runtimeHint: 'npx',
          transport: { type: 'stdio' },
        },
      ],
    }),
  };
}
