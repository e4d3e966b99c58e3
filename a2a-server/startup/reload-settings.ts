/** Applies a changed configuration to a running server. */
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../shared/runtime/logging.ts';
import { ALL_SETTINGS, type ServerSettings } from './settings.ts';

type SettingKey = keyof typeof ALL_SETTINGS;

/** A running server can change these settings. */
const RELOADED: ReadonlySet<string> = new Set<SettingKey>(['logLevel']);

/**
 * Returns a function that reads the settings again and applies the changes. The log names the changes that need a
 * restart. If the settings are wrong, nothing changes. Calls run one after the other, and none of them fails.
 * @param settings the settings of the running server
 * @param read reads the settings in the same way as the start of the server
 */
export function settingsReloader(
  settings: ServerSettings,
  read: () => Promise<ServerSettings>,
  log: Logger,
): () => Promise<void> {
  let last = Promise.resolve();
  const reload = async (): Promise<void> => {
    let next: ServerSettings;
    try {
      next = await read();
    } catch (error) {
      log.error(
        { err: error },
        'the settings were not reloaded: they are wrong, and the server keeps the old ones',
      );
      return;
    }
    log.level = next.logLevel;
    const needsRestart = changedSettings(settings, next).filter((key) => !RELOADED.has(key));
    // Only the names, because values may be secret.
    if (needsRestart.length > 0)
      log.warn({ settings: needsRestart }, 'settings reloaded, but these changes need a restart');
    else log.info('settings reloaded');
  };
  return () => (last = last.then(reload));
}

/** Returns the names of the settings with different values. */
function changedSettings(before: ServerSettings, after: ServerSettings): SettingKey[] {
  const keys: SettingKey[] = [];
  for (const key in ALL_SETTINGS)
    if (isSetting(key) && !isDeepStrictEqual(before[key], after[key])) keys.push(key);
  return keys;
}

function isSetting(key: string): key is SettingKey {
  return Object.hasOwn(ALL_SETTINGS, key);
}
