import { MODEL_TIERS } from '../../shared/settings/model-tiers.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { createAiSdkModel } from '../models/ai-sdk-model.ts';
import { modelFacts } from '../models/model-facts.ts';
import { parameterRefusal, providerParameters, type ModelParameters } from '../models/model-parameters.ts';
import type { ProviderRequestOptions } from '../models/ai-sdk-prompt.ts';
import { mergeProviderData } from '../models/provider-data.ts';
import { createOfflineModel, type ModelChoice } from '../models/offline/offline-model.ts';
import type { Model, Models } from '../models/model.ts';
import type { ProviderRetryPolicy } from '../models/retry-policy.ts';
import { providerKeySourceText } from '../models/provider-key.ts';
import { resolveProviderConnection } from '../models/providers.ts';
import { OFFLINE_MODEL_ID, parseModelId, type ModelSettings } from '../models/model-settings.ts';
import type { ServerSettings } from './settings/settings.ts';
import { priceAdvice } from '../../shared/protocol/price-advice.ts';
import type { Environment } from '../../shared/runtime/environment.ts';

interface ModelOptions {
  /** The retry policy for failing providers. The default is `PROVIDER_RETRY_POLICY`. */
  retryPolicy?: ProviderRetryPolicy | undefined;
  /** How a person chooses a model. The offline model shows this. */
  choice?: ModelChoice | undefined;
}

/** Offers the models in the settings, and the offline model. A model is loaded when a task uses it first. */
export function createLazyModels(
  settings: ModelSettings,
  env: Environment,
  options: ModelOptions = {},
): Models {
  const tiers = new Map(
    MODEL_TIERS.map((tier) => [tier as string, settings[`${tier}Model`] ?? settings.model]),
  );
  const ids = new Set([OFFLINE_MODEL_ID, settings.model, ...tiers.values(), ...settings.otherModel]);
  const known = new Map<string, Model>();

  return {
    resolve(name) {
      const id = name === undefined ? settings.model : (tiers.get(name) ?? name);
      if (!ids.has(id)) throw unknownModelError(name ?? id, [...tiers.keys(), ...ids]);
      // A tier (`fast`, `smart`) may have its own parameters.
      const key = name !== undefined && tiers.has(name) && settings.modelParameters[name] ? name : id;
      const parameters = { ...settings.modelParameters[id], ...settings.modelParameters[key] };
      const model =
        known.get(key) ??
        build(id, settings, { env, parameters, tier: key === id ? undefined : key, ...options });
      known.set(key, model);
      return model;
    },
    list: () => [...tiers.keys(), ...ids],
  };
}

interface ModelContext extends ModelOptions {
  env: Environment;
  parameters: ModelParameters;
  /** The name of the tier, if the tier has its own parameters. */
  tier: string | undefined;
}

/**
 * Creates a model.
 * @throws ProductError CONFIGURATION if a key or a URL is missing, or if the model does not accept the parameters
 */
function build(
  id: string,
  settings: ModelSettings,
  { env, parameters, tier, retryPolicy, choice }: ModelContext,
): Model {
  const parsed = parseModelId(id);
  if (parsed === undefined) return createOfflineModel(OFFLINE_MODEL_ID, choice);
  const { provider } = parsed;
  const { key, load, request, otherURL } = resolveProviderConnection(
    provider,
    { model: parsed.model, baseUrl: settings.baseUrls[provider], key: settings.keys[provider] },
    env,
  );
  const secrets: string[] = [];
  const { contextWindow, price, inputModes, limits } = modelFacts(id, settings, env);
  const refusal = parameterRefusal(parsed, parameters, { contextWindow, ...limits });
  if (refusal !== undefined)
    throw new ProductError(
      'CONFIGURATION',
      `Setting "modelParameters"${tier === undefined ? '' : ` of the tier ${tier}`} does not fit ${id}: ${refusal}. Change it in the configuration file.`,
      { facts: { key: 'modelParameters', model: id } },
    );
  return createAiSdkModel({
    id,
    load: async () => {
      const apiKey = await key.read();
      secrets.push(apiKey);
      return load(parsed.model, apiKey);
    },
    ...(otherURL !== undefined && { endpoint: otherURL }),
    keyExpires: key.source.type === 'command',
    provider: withParameters(request(parsed.model), providerParameters(parsed, parameters)),
    ...(price && { price }),
    contextWindow,
    inputModes,
    failureContext: { keySource: providerKeySourceText(provider, key.source), secrets },
    ...(retryPolicy && { retryPolicy }),
  });
}

function withParameters(
  request: ProviderRequestOptions,
  parameters: ProviderRequestOptions,
): ProviderRequestOptions {
  const options = mergeProviderData(request.options, parameters.options);
  return { ...request, ...parameters, ...(options && { options }) };
}

function unknownModelError(name: string, offered: readonly string[]): ProductError {
  const shown = name.slice(0, 200);
  return new ProductError(
    'UNKNOWN_MODEL',
    `This server has no model ${JSON.stringify(shown)}. Choose one of: ${offered.join(', ')}.`,
    {
      facts: { model: shown, offered: offered.join(', ') },
    },
  );
}

/**
 * Creates each offered model. So a missing key or URL stops the start of the server, and not the first task.
 * @throws ProductError CONFIGURATION
 */
export function createCheckedModels(
  settings: ModelSettings & Pick<ServerSettings, 'budgetCost' | 'budgetCostPerDay'>,
  env: Environment,
  options: ModelOptions = {},
): Models {
  const models = createLazyModels(settings, env, options);
  const offered = models.list().map((name) => models.resolve(name));
  const unpriced = offered.find(({ id, price }) => id !== OFFLINE_MODEL_ID && price === undefined);
  const key = (['budgetCost', 'budgetCostPerDay'] as const).find((name) => settings[name] !== undefined);
  if (key !== undefined && unpriced !== undefined)
    throw new ProductError(
      'CONFIGURATION',
      `Setting "${key}" needs the price of every model, and the price of ${unpriced.id} is unknown. ${priceAdvice(unpriced.id)}`,
      { facts: { key, model: unpriced.id } },
    );
  return models;
}
