/**
 * A plugin of Claude Code (code.claude.com/docs/en/plugins/manifest-reference) in a marketplace
 * (code.claude.com/docs/en/plugins/marketplace-reference).
 */
import { claude } from '../../bridge/cli/clients/claude.ts';
import {
  AUTHOR,
  bridgeCommand,
  jsonFile,
  KEYWORDS,
  NAME,
  repositoryField,
  SHORT_DESCRIPTION,
  TITLE,
  type PackageDescription,
  type PackageFiles,
} from './package-description.ts';

/** Returns the files of the plugin. Its skills and commands are files of their own. */
export function claudeCodePlugin(about: PackageDescription): PackageFiles {
  const { version, description, license } = about;
  return {
    '.claude-plugin/plugin.json': jsonFile({
      name: NAME,
      displayName: TITLE,
      version,
      description,
      author: AUTHOR,
      license,
      keywords: KEYWORDS,
      ...repositoryField(about),
    }),
    '.mcp.json': jsonFile({
      mcpServers: { [NAME]: claude.entry(bridgeCommand(about, '${CLAUDE_PLUGIN_ROOT}')) },
    }),
  };
}

/**
 * Returns the marketplace.
 * @param plugin the path of the plugin's directory, from the directory of the marketplace
 */
export function claudeCodeMarketplace(plugin: string): PackageFiles {
  return {
    '.claude-plugin/marketplace.json': jsonFile({
      name: 'mcp-a2a-bridge',
      owner: AUTHOR,
      description: SHORT_DESCRIPTION,
      plugins: [{ name: NAME, source: plugin, description: SHORT_DESCRIPTION, category: 'productivity' }],
    }),
  };
}
