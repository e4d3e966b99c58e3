/**
 * A plugin of Claude Code (code.claude.com/docs/en/plugins/manifest-reference) in a marketplace
 * (code.claude.com/docs/en/plugins/marketplace-reference).
 */
import { claude } from '../../bridge/cli/clients/claude.ts';
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

const NOTICES = 'sh "${CLAUDE_PLUGIN_ROOT}/hooks/notices.sh"';
/** The time limit of a hook in seconds. The script needs a few milliseconds. */
const HOOK_TIMEOUT = 5;

/** Returns the files of the plugin. Its skills, its commands and the script of its hooks are files of their own. */
export function claudeCodePlugin(about: PackageDescription): PackageFiles {
  return {
    '.claude-plugin/plugin.json': jsonFile({
      ...manifestFields(about),
      displayName: TITLE,
      description: about.description,
    }),
    'hooks/hooks.json': jsonFile({
      description: 'Tells a session what its delegated work needs: results to read, and actions that wait.',
      hooks: {
        SessionStart: [{ hooks: [hook('start')] }],
        UserPromptSubmit: [{ hooks: [hook('prompt')] }],
      },
    }),
    '.mcp.json': jsonFile({
      mcpServers: { [NAME]: claude.entry(bridgeCommand(about, '${CLAUDE_PLUGIN_ROOT}')) },
    }),
  };
}

function hook(mode: 'start' | 'prompt') {
  return { type: 'command', command: `${NOTICES} ${mode}`, timeout: HOOK_TIMEOUT };
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
