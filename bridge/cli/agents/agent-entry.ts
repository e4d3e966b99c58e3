/** Changes the list of agents in the bridge's configuration file. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { AgentSettings } from '../../settings/settings.ts';
import { type ConfigChange, configFormatOf } from '../clients/config-text.ts';

const SECTION = ['bridge', 'agents'];
const MAX_NAME_CHARACTERS = 30;

/** An agent as the configuration file contains it: without the keys that have their default values. */
export type AgentEntry = Pick<AgentSettings, 'url'> & Partial<AgentSettings>;

/**
 * Adds agents to the text of the configuration file, or replaces their entries.
 * @param text the text of the file; '' if there is no file
 * @throws Error if the text is not a JSON object
 */
export function addAgentsToConfigText(
  text: string,
  agents: readonly { name: string; entry: AgentEntry }[],
): ConfigChange {
  const config = configFormatOf('json');
  let changed = text;
  for (const { name, entry } of agents) {
    const keys = [...SECTION, name];
    const before = config.read(changed, keys);
    if (isDeepStrictEqual(z.record(z.string(), z.unknown()).safeParse(before).data, entry)) continue;
    const cleared = before === undefined ? changed : config.remove(changed, keys);
    changed = config.put(cleared, keys, { ...entry });
  }
  return changed === text ? { type: 'same' } : { type: 'changed', text: changed };
}

/** Removes an agent from the text of the configuration file. @throws Error if the text is not a JSON object */
export function removeAgentFromConfigText(text: string, name: string): ConfigChange {
  const config = configFormatOf('json');
  const keys = [...SECTION, name];
  return config.read(text, keys) === undefined
    ? { type: 'same' }
    : { type: 'changed', text: config.remove(text, keys) };
}

/** Returns a name for a new agent: the name on its card in lower case, or the host of its URL. */
export function suggestAgentName(cardName: string, url: string): string {
  const words = cardName
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_NAME_CHARACTERS)
    .replaceAll(/^-+|-+$/g, '');
  return words === '' ? new URL(url).hostname.replaceAll(/[^A-Za-z0-9.-]/g, '-') : words;
}
