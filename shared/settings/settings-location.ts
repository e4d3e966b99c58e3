import { join, resolve } from 'node:path';
import { STATE_DIRECTORY_VARIABLE, stateDirectory, hostEnvironment } from '../state/state-directory.ts';
import type { Environment } from '../runtime/environment.ts';
import { ProductError } from '../runtime/errors.ts';

export const CONFIG_VARIABLE = 'MCP_A2A_BRIDGE_CONFIG';

interface SettingsLocation {
  stateDir: string;
  configFile: string;
  /** True if the user named the configuration file, so that it must exist. */
  named: boolean;
  flags: Readonly<Record<string, unknown>>;
}

/**
 * Returns the flags for the state directory and the configuration file.
 * @param kept describes what the program stores in the state directory
 */
export function locationFlagDefinitions(kept: string): readonly { flag: string; describe: string }[] {
  return [
    {
      flag: '--state-dir <dir>',
      describe: `the directory of ${kept} (${STATE_DIRECTORY_VARIABLE}, default ${stateDirectory({ ...hostEnvironment(), env: {} })})`,
    },
    {
      flag: '--config <file>',
      describe: `configuration file, JSON (${CONFIG_VARIABLE}, default config.json in the state directory)`,
    },
  ];
}

/**
 * Returns the absolute path. Refuses a path such as `~/x`: no shell replaces the tilde in the settings of an MCP client,
 * so the path would be a directory `~` in each project.
 */
function absolutePath(path: string): string {
  if (!/^~([\\/]|$)/.test(path)) return resolve(path);
  throw new ProductError(
    'CONFIGURATION',
    `The path ${path} begins with "~", which only a shell replaces. Write the path from the root.`,
    { facts: { path } },
  );
}

/**
 * Finds the state directory and the configuration file.
 * @param flags the values of commander's options by setting key, including `stateDir` and `config`
 * @throws ProductError CONFIGURATION
 */
export function locateSettings(
  { stateDir: stateFlag, config: configFlag, ...flags }: Readonly<Record<string, unknown>>,
  env: Environment,
): SettingsLocation {
  const stateDir = absolutePath(
    typeof stateFlag === 'string' && stateFlag !== ''
      ? stateFlag
      : stateDirectory({ ...hostEnvironment(), env }),
  );
  const named = typeof configFlag === 'string' ? configFlag : env[CONFIG_VARIABLE] || undefined;
  return {
    stateDir,
    configFile: absolutePath(named ?? join(stateDir, 'config.json')),
    named: named !== undefined,
    flags,
  };
}
