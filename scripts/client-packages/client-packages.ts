/** The generated files of all packages for MCP clients. Pure. */
import { agentPlugin } from './agent-plugin.ts';
import { claudeCodeMarketplace, claudeCodePlugin } from './claude-code-plugin.ts';
import { codexMarketplace, codexPlugin } from './codex-plugin.ts';
import type { ClaudeCommand } from './parse-command.ts';
import { desktopBundle } from './desktop-bundle.ts';
import { geminiExtension } from './gemini-extension.ts';
import { installLinks } from './install-links.ts';
import { bridgeCommand, type PackageDescription, type PackageFiles } from './package-description.ts';
import { registryEntry } from './registry-entry.ts';

export const DIRECTORIES = ['claude-code', 'codex', 'gemini-cli', 'agent-plugin', 'desktop-bundle'] as const;
export type PackageDirectory = (typeof DIRECTORIES)[number];

export interface ClientPackages {
  /**
   * The marketplaces, which list the plugins. For a release, also the entry of the MCP registry and the install links.
   */
  common: PackageFiles;
  packages: Readonly<Record<PackageDirectory, PackageFiles>>;
}

/**
 * Returns the generated files. Skills, commands, icons and the program are copied.
 * @param out the absolute path of the directory that gets the packages
 */
export function clientPackages(
  about: PackageDescription,
  { out, commands, platform }: { out: string; commands: readonly ClaudeCommand[]; platform: NodeJS.Platform },
): ClientPackages {
  const { origin } = about;
  return {
    common: {
      ...claudeCodeMarketplace('./claude-code'),
      ...codexMarketplace('./codex'),
      ...(origin.type === 'published' && {
        ...registryEntry(about, origin),
        ...installLinks(bridgeCommand(about, out)),
      }),
    },
    packages: {
      'claude-code': claudeCodePlugin(about),
      codex: codexPlugin(about, `${out}/codex`),
      'gemini-cli': geminiExtension(about, commands),
      'agent-plugin': agentPlugin(about),
      'desktop-bundle': desktopBundle(about, platform),
    },
  };
}
