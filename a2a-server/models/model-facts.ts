/** The context window and the price of a model, from the settings and the known models. Pure. */
import type { Price } from '../task/spending.ts';
import { knownModel } from './known-models.ts';
import { DEFAULT_WINDOW, parseModelId, type ModelSettings } from './model-settings.ts';

export interface ModelFacts {
  /** The context window in tokens. */
  contextWindow: number;
  /** True if neither the settings nor the known models contain the window. */
  windowAssumed: boolean;
  /** The price of the model; undefined if it is unknown. */
  price: Price | undefined;
  /** The media types that the model reads besides text. Empty if they are unknown. */
  inputModes: readonly string[];
}

/** @param id `provider:model` */
export function modelFacts(
  id: string,
  settings: Pick<ModelSettings, 'baseUrls' | 'prices' | 'contextWindow' | 'inputModes'>,
): ModelFacts {
  const parsed = parseModelId(id);
  const known = parsed && knownModel(parsed.provider, parsed.model);
  const window = settings.contextWindow[id] ?? known?.contextWindow;
  // Another endpoint may have other prices. An unknown price is better than a wrong price.
  const listPrice = parsed && settings.baseUrls[parsed.provider] === undefined ? known?.price : undefined;
  return {
    contextWindow: window ?? DEFAULT_WINDOW,
    windowAssumed: window === undefined,
    price: settings.prices[id] ?? listPrice,
    inputModes: settings.inputModes[id] ?? known?.inputModes ?? [],
  };
}
