/**
 * The manifest of an MCP bundle (.mcpb), which Claude Desktop and others install with one click. The format is
 * github.com/modelcontextprotocol/mcpb, MANIFEST.md, version 0.3. A bundle always contains the program.
 */
import {
  AUTHOR,
  bridgeCommand,
  jsonFile,
  KEYWORDS,
  SHORT_DESCRIPTION,
  TITLE,
  type PackageDescription,
  type PackageFiles,
} from './package-description.ts';

/**
 * Claude Desktop ends a call after a minute, and no setting changes that (anthropics/claude-code#22542 and #63379). So
 * each call returns before this minute is over, and the model calls the wait tool again.
 */
const SHORT_CALLS = ['--wait-seconds', '50'];

/** @param platform the platform of the program's native library */
export function desktopBundle(about: PackageDescription, platform: NodeJS.Platform): PackageFiles {
  const { version, description, license, node, origin } = about;
  const { command, args } = bridgeCommand({ ...about, origin: { type: 'bundled' } }, '${__dirname}');
  return {
    'manifest.json': jsonFile({
      manifest_version: '0.3',
      name: 'mcp-a2a-bridge',
      display_name: TITLE,
      version,
      description: SHORT_DESCRIPTION,
      long_description: description,
      author: AUTHOR,
      license,
      icon: 'icon.png',
      keywords: KEYWORDS,
      ...(origin.type === 'published' && { repository: { type: 'git', url: origin.repository } }),
      server: {
        type: 'node',
        entry_point: args[0]?.replace('${__dirname}/', ''),
        // A desktop program has no current directory. So the person chooses the workspace.
        mcp_config: { command, args: [...args, '--workspace', '${user_config.workspace}', ...SHORT_CALLS] },
      },
      tools_generated: true,
      prompts_generated: true,
      compatibility: { platforms: [platform], runtimes: { node } },
      user_config: {
        workspace: {
          type: 'directory',
          title: 'Workspace',
          description: 'The directory in which the agent reads and writes files, and runs commands.',
          required: true,
        },
      },
    }),
  };
}
