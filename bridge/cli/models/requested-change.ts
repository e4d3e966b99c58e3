/** Reads the command line of `model set`. */
import { MODEL_TIERS } from '../../../shared/settings/model-tiers.ts';
import { quote } from 'shell-quote';
import { nearestNames } from '../../../shared/text/nearest-names.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { readChoiceOption } from '../terminal/option-value.ts';
import type { CommandRun } from '../context/run-command.ts';
import { splitCommandLine, type ModelChange } from './edit-model-settings.ts';
import { readServerModelReport } from '../context/server-program.ts';

export interface SetModelOptions {
  tier?: string;
  keyCommand?: string;
  keyVariable?: string;
  baseUrl?: string;
  /** False if the person typed --no-try. */
  try?: boolean;
}

/** @throws UsageError */
export async function readModelChange(
  { options, settings, places }: CommandRun<SetModelOptions>,
  id: string,
): Promise<ModelChange> {
  const { tier, keyCommand, keyVariable, baseUrl } = options;
  const named = tier === undefined ? undefined : readChoiceOption('tier', tier, MODEL_TIERS);
  if (keyCommand !== undefined && keyVariable !== undefined)
    throw new UsageError('Use --key-command or --key-variable, not both.');
  if (id === 'offline' && (keyCommand ?? keyVariable ?? baseUrl) !== undefined)
    throw new UsageError('The offline model has no key and no URL.');
  if (id !== 'offline' && !/^[a-z-]+:\S+$/.test(id)) {
    const { known, local } = await readServerModelReport(settings, places.serverScript);
    const served = local.flatMap(({ provider, models }) => models.map((model) => `${provider}:${model}`));
    const ids = [...served, ...known.map((each) => each.id)];
    throw new UsageError(`A model is "offline" or <provider>:<model>. ${modelHint(id, ids)}`);
  }
  return { id, tier: named, key: keySetting(options), baseUrl };
}

/** The maximum number of models that an error names. */
const MAX_NAMED = 3;

/** Says which of the known models the person may mean. */
function modelHint(typed: string, ids: readonly string[]): string {
  const named = ids.filter((id) => nameOf(id) === typed.toLowerCase());
  const containing = named.length > 0 ? named : ids.filter((id) => id.includes(typed.toLowerCase()));
  if (containing.length > MAX_NAMED)
    return `${containing.length} models contain "${typed}". To list them: mcp-a2a-bridge model list ${quote([typed])}`;
  const names = containing.length > 0 ? [] : nearestNames(typed, ids.map(nameOf));
  const similar = [...containing, ...names.flatMap((name) => ids.filter((id) => nameOf(id) === name))];
  return similar.length === 0
    ? '"mcp-a2a-bridge model list" lists models.'
    : `Did you mean ${similar.join(' or ')}?`;
}

/** Returns the source of the key. @throws UsageError if the command needs a shell */
function keySetting({ keyCommand, keyVariable }: SetModelOptions): ModelChange['key'] {
  if (keyCommand !== undefined) return { command: splitCommandLine(keyCommand) };
  return keyVariable === undefined ? undefined : { env: keyVariable };
}

function nameOf(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}
