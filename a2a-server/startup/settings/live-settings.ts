/** The settings that a running server can change. Each use reads the value that applies now. */
import type { Limits } from '../../limits/limits.ts';
import type { PrincipalWeights } from '../../limits/fair-execution-slots.ts';
import type { Policy } from '../../policy/create-policy.ts';
import type { Tool } from '../../tools/tool.ts';
import { COUNT_LIMIT_SETTINGS, limitsFromSettings } from './limit-settings.ts';
import { serverPolicy } from './server-policy.ts';
import { type ServerSettings, ALL_SERVER_SETTINGS } from './settings.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../../shared/runtime/logging.ts';

const LIVE_SETTINGS: ReadonlySet<string> = new Set<keyof ServerSettings>(['logLevel', 'policy', 'weights']);

/** True if a running server can change the setting. */
function isLiveSetting(key: string): boolean {
  return LIVE_SETTINGS.has(key) || Object.hasOwn(COUNT_LIMIT_SETTINGS, key);
}

export class LiveSettings {
  readonly #tools: readonly Tool[];
  readonly #listeners: (() => void)[] = [];
  #current: ServerSettings;
  #policy: Policy;
  #limits: Limits;

  /** @throws ProductError CONFIGURATION if a rule is invalid */
  constructor(settings: ServerSettings, tools: readonly Tool[]) {
    this.#tools = tools;
    this.#current = settings;
    this.#policy = serverPolicy(settings, tools);
    this.#limits = limitsFromSettings(settings);
  }

  /** The settings that apply now. */
  get current(): ServerSettings {
    return this.#current;
  }

  readonly policy = (): Policy => this.#policy;
  readonly limits = (): Limits => this.#limits;
  readonly weights = (): PrincipalWeights => this.#current.weights;

  /** Calls the function after each change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Applies the settings that a running server can change. Returns the names of the settings whose value has changed.
   * @throws ProductError CONFIGURATION if a rule is invalid; then nothing changes
   */
  change(next: ServerSettings): string[] {
    const before = this.#current;
    const changed = Object.fromEntries(Object.entries(next).filter(([key]) => isLiveSetting(key)));
    const settings: ServerSettings = { ...this.#current, ...changed };
    this.#policy = serverPolicy(settings, this.#tools);
    this.#limits = limitsFromSettings(settings);
    this.#current = settings;
    for (const listener of this.#listeners) listener();
    return changedSettings(before, settings);
  }
}

/** Returns the names of the settings with different values. */
function changedSettings(before: ServerSettings, after: ServerSettings): string[] {
  const old = new Map<string, unknown>(Object.entries(before));
  const current = new Map<string, unknown>(Object.entries(after));
  return Object.keys(ALL_SERVER_SETTINGS).filter((key) => !isDeepStrictEqual(old.get(key), current.get(key)));
}

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
