/** Creates and checks the models in the server's settings. */
import { ProductError } from '../../shared/runtime/errors.ts';
import { createModels } from './configured-models.ts';
import type { Models } from '../models/model.ts';
import { OFFLINE } from '../models/model-settings.ts';
import type { ServerSettings } from './settings.ts';

type Offer = Pick<
  ServerSettings,
  'model' | 'fastModel' | 'smartModel' | 'otherModel' | 'baseUrls' | 'prices' | 'contextWindow' | 'budgetCost'
>;

/**
 * Creates every offered model, so that a missing key or address fails at startup and not in the first task.
 * @throws ProductError CONFIGURATION
 */
export function offeredModels(settings: Offer, env: Readonly<Record<string, string | undefined>>): Models {
  const { model, fastModel, smartModel, otherModel, baseUrls, prices, contextWindow } = settings;
  const models = createModels(
    { model, fast: fastModel, smart: smartModel, others: otherModel, baseUrls, prices, contextWindow },
    env,
  );
  const offered = models.list().map((name) => models.resolve(name));
  const unpriced = offered.find(({ id, price }) => id !== OFFLINE && price === undefined);
  if (settings.budgetCost !== undefined && unpriced !== undefined)
    throw new ProductError(
      'CONFIGURATION',
      `Setting "budgetCost" needs the price of every model, and ${unpriced.id} has none: add it to "prices" in the configuration file.`,
      { facts: { key: 'budgetCost', model: unpriced.id } },
    );
  return models;
}
