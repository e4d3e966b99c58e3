/** Applies a changed configuration to a running server. */
import type { Logger } from '../../../shared/runtime/logging.ts';
import { changedSettings } from './changed-settings.ts';
import { isLiveSetting } from './live-settings.ts';
import type { ServerSettings } from './settings.ts';

interface ReloadOptions {
  /** Reads the settings in the same way as the start of the server. */
  read: () => Promise<ServerSettings>;
  /**
   * Applies the settings that a running server can change, or fails and changes nothing. Resolves with the names of
   * the changed settings.
   */
  apply: (next: ServerSettings) => Promise<string[]>;
}

/**
 * Returns a function that reads the settings again and applies the changes. The log names the applied changes, and the
 * changes that need a restart. If the settings are wrong, nothing changes. Calls run one after the other, and none of
 * them fails.
 * @param settings the settings of the running server
 */
export function createSettingsReloader(
  settings: ServerSettings,
  { read, apply }: ReloadOptions,
  log: Logger,
): () => Promise<void> {
  let last = Promise.resolve();
  const reload = async (): Promise<void> => {
    try {
      const next = await read();
      const applied = await apply(next);
      const needsRestart = changedSettings(settings, next).filter((key) => !isLiveSetting(key));
      log.level = next.logLevel;
      // The log shows only the names, because values may be secret.
      if (needsRestart.length > 0)
        log.warn({ applied, settings: needsRestart }, 'settings reloaded, but these changes need a restart');
      else log.info({ applied }, 'settings reloaded');
    } catch (error) {
      log.error(
        { err: error },
        'the settings were not reloaded: they are wrong, and the server keeps the old ones',
      );
    }
  };
  return () => (last = last.then(reload));
}
