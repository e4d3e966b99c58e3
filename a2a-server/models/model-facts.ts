/** Combines the facts about a model from the settings and the known models. Pure. */
import type { Environment } from '../../shared/runtime/environment.ts';
import type { Price } from '../task/spending.ts';
import { findKnownModel, knownModelListName, type KnownModel, type ParameterLimits } from './known-models.ts';
import {
  COMPATIBLE_URL_VARIABLE,
  DEFAULT_WINDOW_TOKENS,
  parseModelId,
  type ModelSettings,
} from './model-settings.ts';

interface ModelFacts {
  contextWindow: number;
  /** True if the context window is assumed, because neither the settings nor the known models contain it. */
  windowAssumed: boolean;
  price: Price | undefined;
  /** The media types of the files that the model accepts. Empty if unknown. */
  inputModes: readonly string[];
  /** The limits of the model's parameters. Empty for an unknown model, because only its provider knows them. */
  limits: ParameterLimits;
}

type FactSettings = Pick<ModelSettings, 'baseUrls' | 'prices' | 'contextWindow' | 'inputModes'>;

/**
 * @param id `provider:model`
 * @param env may contain the URL of `openai-compatible`
 */
export function modelFacts(id: string, settings: FactSettings, env: Environment): ModelFacts {
  const known = listedFacts(id, settings.baseUrls, env) ?? {};
  const window = settings.contextWindow[id] ?? known.contextWindow;
  return {
    contextWindow: window ?? DEFAULT_WINDOW_TOKENS,
    windowAssumed: window === undefined,
    price: settings.prices[id] ?? known.price,
    limits: known,
    inputModes: settings.inputModes[id] ?? known.inputModes ?? [],
  };
}

function listedFacts(
  id: string,
  baseUrls: ModelSettings['baseUrls'],
  env: Environment,
): KnownModel | undefined {
  const parsed = parseModelId(id);
  if (parsed === undefined) return undefined;
  const { provider, model } = parsed;
  if (provider === 'openai-compatible') {
    const list = knownModelListName(baseUrls[provider] ?? env[COMPATIBLE_URL_VARIABLE] ?? '');
    return list === undefined ? undefined : findKnownModel(list, model);
  }
  const known = findKnownModel(provider, model);
  if (known === undefined || baseUrls[provider] === undefined) return known;
  // Another endpoint may have other prices, so the known price is dropped. A wrong price is worse than an unknown
  // price.
  const { price: _, ...facts } = known;
  return facts;
}
