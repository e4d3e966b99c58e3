/** Reads the command line of `model set`. */
import { nearestNames } from '../../../shared/text/nearest-names.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import type { CommonOptions, CommandRun } from '../context/run-command.ts';
import { commandWords, type ModelChange, TIERS } from './edit-model-settings.ts';
import { readServerModels } from './server-models.ts';

export interface SetOptions extends CommonOptions {
  tier?: string;
  keyCommand?: string;
  keyVariable?: string;
  baseUrl?: string;
  /** False if the person typed --no-try. */
  try?: boolean;
}

/** @throws UsageError */
export async function readRequestedChange(
  { options, settings, places }: CommandRun<SetOptions>,
  id: string,
): Promise<ModelChange> {
  const { tier, keyCommand, keyVariable, baseUrl } = options;
  const named = TIERS.find((each) => each === tier);
  if (tier !== undefined && named === undefined)
    throw new UsageError(`There is no tier "${tier}". The tiers are: ${TIERS.join(', ')}.`);
  if (keyCommand !== undefined && keyVariable !== undefined)
    throw new UsageError('Use --key-command or --key-variable, not both.');
  if (id === 'offline' && (keyCommand ?? keyVariable ?? baseUrl) !== undefined)
    throw new UsageError('The offline model has no key and no URL.');
  if (id !== 'offline' && !/^[a-z-]+:\S+$/.test(id)) {
    const { known, local } = await readServerModels(settings, places.serverScript);
    const served = local.flatMap(({ provider, models }) => models.map((model) => `${provider}:${model}`));
    const ids = [...served, ...known.map((each) => each.id)];
    const containing = ids.filter((each) => each.includes(id.toLowerCase())).slice(0, 3);
    const names = containing.length > 0 ? [] : nearestNames(id, ids.map(nameOf));
    const similar = [...containing, ...names.flatMap((name) => ids.filter((each) => nameOf(each) === name))];
    throw new UsageError(
      `A model is "offline" or <provider>:<model>. ${similar.length === 0 ? '"mcp-a2a-bridge model list" lists models.' : `Did you mean ${similar.join(' or ')}?`}`,
    );
  }
  return { id, tier: named, key: keySetting(options), baseUrl };
}

/** Returns the source of the key. @throws UsageError if the command needs a shell */
function keySetting({ keyCommand, keyVariable }: SetOptions): ModelChange['key'] {
  if (keyCommand !== undefined) return { command: commandWords(keyCommand) };
  return keyVariable === undefined ? undefined : { env: keyVariable };
}

function nameOf(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}
