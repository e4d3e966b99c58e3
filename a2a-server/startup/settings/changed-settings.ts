import { isDeepStrictEqual } from 'node:util';
import { ALL_SERVER_SETTINGS, type ServerSettings } from './settings.ts';

type SettingKey = keyof typeof ALL_SERVER_SETTINGS;

/** Returns the names of the settings with different values. */
export function changedSettings(before: ServerSettings, after: ServerSettings): SettingKey[] {
  const keys: SettingKey[] = [];
  for (const key in ALL_SERVER_SETTINGS)
    if (isSetting(key) && !isDeepStrictEqual(before[key], after[key])) keys.push(key);
  return keys;
}

function isSetting(key: string): key is SettingKey {
  return Object.hasOwn(ALL_SERVER_SETTINGS, key);
}
