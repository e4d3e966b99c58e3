/** A plugin of Codex in a marketplace (developers.openai.com/plugins/build/plugins). */
import { codex } from '../../bridge/cli/clients/codex.ts';
import {
  AUTHOR,
  bridgeCommand,
  jsonFile,
  NAME,
  SHORT_DESCRIPTION,
  TITLE,
  type PackageDescription,
  type PackageFiles,
  manifestFields,
} from './package-description.ts';

/**
 * Returns the files of the plugin. Codex replaces no variable for the plugin's directory, and a relative path would need
 * that directory as the working directory of the bridge. So a bundled plugin names an absolute path.
 * @param directory the absolute path of the plugin
 */
export function codexPlugin(about: PackageDescription, directory: string): PackageFiles {
  return {
    '.codex-plugin/plugin.json': jsonFile({
      ...manifestFields(about),
      description: about.description,
      skills: './skills/',
      mcpServers: { [NAME]: { ...codex.entry(bridgeCommand(about, directory)), ...codex.defaults } },
      interface: {
        displayName: TITLE,
        shortDescription: SHORT_DESCRIPTION,
        developerName: AUTHOR.name,
        category: 'Productivity',
        capabilities: ['Interactive', 'Write'],
        defaultPrompt: ['Delegate a task to the assistant', 'Show me what waits for my decision'],
      },
    }),
  };
}

/**
 * Returns the marketplace.
 * @param plugin the path of the plugin's directory, from the directory of the marketplace
 */
export function codexMarketplace(plugin: string): PackageFiles {
  return {
    '.agents/plugins/marketplace.json': jsonFile({
      name: 'mcp-a2a-bridge',
      interface: { displayName: TITLE },
      plugins: [
        {
          name: NAME,
          source: { source: 'local', path: plugin },
          policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
          category: 'Productivity',
        },
      ],
    }),
  };
}
