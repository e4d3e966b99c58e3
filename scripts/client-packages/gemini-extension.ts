/** An extension of Gemini CLI (geminicli.com/docs/extensions/reference). */
import { stringify } from '@decimalturn/toml-patch';
import { gemini } from '../../bridge/cli/clients/gemini.ts';
import type { ClaudeCommand } from './parse-command.ts';
import {
  bridgeCommand,
  jsonFile,
  NAME,
  SHORT_DESCRIPTION,
  type PackageDescription,
  type PackageFiles,
} from './package-description.ts';

/** Returns the manifest, and the commands in the format of Gemini CLI. */
export function geminiExtension(about: PackageDescription, commands: readonly ClaudeCommand[]): PackageFiles {
  // An extension cannot set `trust`: Gemini CLI asks the person for each of its tools.
  const server = {
    ...gemini.entry(bridgeCommand(about, '${extensionPath}')),
    cwd: '${workspacePath}',
    timeout: gemini.defaults?.['timeout'],
  };
  const manifest = {
    name: NAME,
    version: about.version,
    description: SHORT_DESCRIPTION,
    mcpServers: { [NAME]: server },
  };
  return {
    'gemini-extension.json': jsonFile(manifest),
    ...Object.fromEntries(
      commands.map(({ name, description, prompt }) => [
        `commands/${NAME}/${name}.toml`,
        stringify({ description, prompt }),
      ]),
    ),
  };
}
