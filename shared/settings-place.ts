/** Where the settings that somebody did not give on the command line are looked for: the state directory and one file. */
import { join, resolve } from 'node:path';
import { STATE_DIRECTORY_VARIABLE, stateDirectory, thisMachine } from './state-directory.ts';

const CONFIG_VARIABLE = 'MCP_A2A_BRIDGE_CONFIG';

export interface SettingsPlace {
  stateDir: string;
  /** Absolute. */
  configFile: string;
  /** Whether somebody has named this very file, which must then exist. */
  named: boolean;
  /** The flags that are settings. */
  flags: Readonly<Record<string, unknown>>;
}

/**
 * Flags that say where the other settings are.
 * @param kept what of the program lies in the state directory, in words
 */
export function placeFlags(kept: string): readonly { flag: string; describe: string }[] {
  return [
    {
      flag: '--state-dir <dir>',
      describe: `where ${kept} are kept (${STATE_DIRECTORY_VARIABLE}, default ${stateDirectory({ ...thisMachine(), env: {} })})`,
    },
    {
      flag: '--config <file>',
      describe: `configuration file, JSON (${CONFIG_VARIABLE}, default config.json in the state directory)`,
    },
  ];
}

/** @param flags what commander found, by the settings' keys, with `stateDir` and `config` beside them */
export function settingsPlace(
  { stateDir: stateFlag, config: configFlag, ...flags }: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): SettingsPlace {
  const stateDir = resolve(
    typeof stateFlag === 'string' && stateFlag !== '' ? stateFlag : stateDirectory({ ...thisMachine(), env }),
  );
  const named = typeof configFlag === 'string' ? configFlag : env[CONFIG_VARIABLE] || undefined;
  return {
    stateDir,
    configFile: resolve(named ?? join(stateDir, 'config.json')),
    named: named !== undefined,
    flags,
  };
}
