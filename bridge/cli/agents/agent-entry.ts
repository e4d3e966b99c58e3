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
 * Adds an agent to the text of the configuration file, or replaces its entry.
 * @param text the text of the file; '' if there is no file
 * @throws Error if the text is not a JSON object
 */
export function addAgentToConfigText(text: string, name: string, entry: AgentEntry): ConfigChange {
  const config = configFormatOf('json');
  const keys = [...SECTION, name];
  const before = config.read(text, keys);
  if (isDeepStrictEqual(z.record(z.string(), z.unknown()).safeParse(before).data, entry))
    return { type: 'same' };
  const cleared = before === undefined ? text : config.remove(text, keys);
  return { type: 'changed', text: config.put(cleared, keys, { ...entry }) };
}

/** Adds several agents. @throws Error if the text is not a JSON object */
export function addAgentsToConfigText(
  text: string,
  agents: readonly { name: string; entry: AgentEntry }[],
): ConfigChange {
  let changed = text;
  for (const { name, entry } of agents) {
    const change = addAgentToConfigText(changed, name, entry);
    if (change.type === 'changed') changed = change.text;
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
