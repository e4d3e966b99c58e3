/** The settings that a running server can change. Each use reads the value that applies now. */
import type { Limits } from '../../limits/limits.ts';
import type { PrincipalWeights } from '../../limits/fair-execution-slots.ts';
import type { Policy } from '../../policy/create-policy.ts';
import type { Tool } from '../../tools/tool.ts';
import { COUNT_LIMIT_SETTINGS, limitsFromSettings } from './limit-settings.ts';
import { changedSettings } from './changed-settings.ts';
import { serverPolicy } from './server-policy.ts';
import type { ServerSettings } from './settings.ts';

const LIVE_SETTINGS: ReadonlySet<string> = new Set<keyof ServerSettings>(['logLevel', 'policy', 'weights']);

/** True if a running server can change the setting. */
export function isLiveSetting(key: string): boolean {
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
   * Applies the settings that a running server can change. Returns the names of those whose value is new.
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
