import type { ModelReport, ModelUse, ReportedKeySource } from '../../../shared/runtime/model-report.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { listedModels } from '../../models/known-models.ts';
import { findLocalModels } from '../../models/local-models.ts';
import { modelFacts } from '../../models/model-facts.ts';
import { parseModelId, type ProviderName } from '../../models/model-settings.ts';
import { keySourceOfProvider, providerUrl } from '../../models/providers.ts';
import { agentBackendText } from '../agent-backend.ts';
import { readSettingSources, readServerSettings } from '../settings/read-settings.ts';
import type { ServerSettings } from '../settings/settings.ts';

/**
 * `a2a-server models` reports the models of the settings, the known models, and the models of this machine. It sends no
 * request to a model, and runs no key command.
 * @param flags and env: as for `readServerSettings`
 * @throws ProductError CONFIGURATION
 */
export async function readModelReport(
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<ModelReport> {
  const settings = await readServerSettings(flags, env);
  const origins = await readSettingSources(['model', 'fastModel', 'smartModel', 'otherModel'], flags, env);
  const { model, fastModel, smartModel, otherModel } = settings;
  const use = (name: string, id: string, origin: string): ModelUse =>
    useOf({ use: name, id, origin }, settings, env);
  return {
    agent: agentBackendText(settings),
    agentType: settings.agent.type,
    uses: [
      use('default', model, origins.model),
      use('fast', fastModel ?? model, fastModel === undefined ? origins.model : origins.fastModel),
      use('smart', smartModel ?? model, smartModel === undefined ? origins.model : origins.smartModel),
      ...otherModel.map((id) => use('other', id, origins.otherModel)),
    ],
    known: knownModels(),
    local: (await findLocalModels(settings)).map(({ models, ...place }) => ({
      ...place,
      models: [...models],
    })),
  };
}

function useOf(
  named: Pick<ModelUse, 'use' | 'id' | 'origin'>,
  settings: ServerSettings,
  env: Environment,
): ModelUse {
  const provider = parseModelId(named.id)?.provider;
  if (provider === undefined)
    return {
      ...named,
      url: null,
      key: { type: 'none' },
      contextWindow: null,
      windowAssumed: false,
      price: { input: 0, output: 0 },
    };
  const { contextWindow, windowAssumed, price } = modelFacts(named.id, settings, env);
  return {
    ...named,
    url: urlOf(provider, settings, env),
    key: keyFor(provider, settings, env),
    contextWindow,
    windowAssumed,
    price: price ?? null,
  };
}

/** Returns the URL of a provider, or null if it is missing or invalid. `a2a-server check` reports that error. */
function urlOf(provider: ProviderName, { baseUrls }: ServerSettings, env: Environment): string | null {
  try {
    return providerUrl(provider, baseUrls[provider], env);
  } catch {
    return null;
  }
}

function keyFor(provider: ProviderName, { keys }: ServerSettings, env: Environment): ReportedKeySource {
  const { source, needed } = keySourceOfProvider(provider, keys[provider], env);
  return source.type === 'variable' ? { ...source, needed } : source;
}

/** Returns the known models, except the models of `openai-compatible`, because their ids need a URL. */
function knownModels(): ModelReport['known'] {
  return listedModels().flatMap(({ id, contextWindow = null, price = null, date }) =>
    parseModelId(id) === undefined ? [] : [{ id, contextWindow, price, date }],
  );
}
