import { basename, dirname, join, resolve } from 'node:path';
import { bridgeCommandLine } from '../../shared/settings/bridge-command-line.ts';
import {
  hostEnvironment,
  stateDirectory,
  STATE_DIRECTORY_VARIABLE,
} from '../../shared/state/state-directory.ts';
import type { ModelChoice } from '../models/offline/offline-model.ts';
import { EXAMPLE_MODEL } from '../models/model-settings.ts';
import { findLocalModels } from '../models/local-models.ts';
import type { ServerSettings } from './settings/settings.ts';

const MAX_SHOWN_MODELS = 5;

type AdviceSettings = Pick<ServerSettings, 'stateDir' | 'configFile' | 'baseUrls'>;

/**
 * Returns how a person chooses a model: the command, and advice that also names the models that this machine serves.
 * @param script the built main file of this server: `process.argv[1]`
 */
export function modelChoice(settings: AdviceSettings, script: string | undefined): ModelChoice {
  const command = `${bridgeCommand(settings, script)} model set`;
  return { command, advise: () => modelChoiceAdvice(settings, command) };
}

async function modelChoiceAdvice(settings: AdviceSettings, command: string): Promise<string> {
  const local = await findLocalModels(settings);
  const ids = local.flatMap(({ provider, models }) => models.map((model) => `${provider}:${model}`));
  const [first] = ids;
  if (first === undefined)
    return `To choose a model, run in a terminal: ${command} ${EXAMPLE_MODEL}. It needs a key of the provider. Other providers and local models work the same way (docs/models.md).`;
  const more = ids.length > MAX_SHOWN_MODELS ? ` and ${ids.length - MAX_SHOWN_MODELS} more` : '';
  return `To choose a model, run in a terminal: ${command} ${first}. This machine serves ${ids.slice(0, MAX_SHOWN_MODELS).join(', ')}${more}. A model of a provider, e.g. ${EXAMPLE_MODEL}, works the same way (docs/models.md).`;
}

/** Returns the start of the bridge's command line, with the settings of this server. */
function bridgeCommand({ stateDir, configFile }: AdviceSettings, script = ''): string {
  const { [STATE_DIRECTORY_VARIABLE]: _, ...env } = process.env;
  const usual = resolve(stateDirectory({ ...hostEnvironment(), env }));
  return bridgeCommandLine(
    {
      // The path is correct in both installations: the build puts both programs into neighbouring directories, and npm
      // puts both commands into one directory.
      script: resolve(dirname(script), '../bridge/main.js'),
      started: basename(script) === 'a2a-server' ? join(dirname(script), 'mcp-a2a-bridge') : undefined,
      path: process.env['PATH'],
    },
    { stateDir: stateDir === usual ? undefined : stateDir, configFile },
  );
}
