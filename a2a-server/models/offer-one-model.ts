import { ProductError } from '../../shared/runtime/errors.ts';
import { MODEL_TIERS } from '../../shared/settings/model-tiers.ts';
import type { Model, Models } from './model.ts';

/**
 * Offers an agent as the only model. The names of all tiers mean this model.
 * @param whyOnlyThis why there is no other model, as the end of a sentence
 */
export function offerOneModel(model: Model, whyOnlyThis: string): Models {
  const names = [...MODEL_TIERS, model.id];
  return {
    resolve(name = model.id) {
      if (names.includes(name)) return model;
      throw new ProductError(
        'UNKNOWN_MODEL',
        `This server has no model ${JSON.stringify(name.slice(0, 200))}: ${whyOnlyThis}. Omit the model.`,
        { facts: { offered: names.join(', ') } },
      );
    },
    list: () => names,
  };
}
