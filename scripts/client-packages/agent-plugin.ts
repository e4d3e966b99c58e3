/** A plugin after Agent Plugins 1.0.0 (agent-plugins.org/specification), for clients that have no format of their own. */
import {
  bridgeCommand,
  jsonFile,
  NAME,
  SHORT_DESCRIPTION,
  type PackageDescription,
  type PackageFiles,
  manifestFields,
} from './package-description.ts';

const SCHEMAS = 'https://agent-plugins.org/schemas/1.0.0';

/**
 * Returns the manifest and the MCP configuration. Clients start the bridge in the plugin's directory (§7.2.1), and no
 * variable names the person's directory. So the bridge uses the folder that the client reports, and the skill asks the
 * model to name the workspace in each call.
 */
export function agentPlugin(about: PackageDescription): PackageFiles {
  const { command, args } = bridgeCommand(about, '${PLUGIN_ROOT}');
  return {
    'plugin.json': jsonFile({
      $schema: `${SCHEMAS}/plugin.schema.json`,
      ...manifestFields(about),
      description: SHORT_DESCRIPTION,
    }),
    'mcp.json': jsonFile({
      $schema: `${SCHEMAS}/mcp.schema.json`,
      mcpServers: { [NAME]: { type: 'stdio', command, args: [...args, '--workspace-from-roots'] } },
    }),
  };
}
