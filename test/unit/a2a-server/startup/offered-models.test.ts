import { describe, expect, it } from '@jest/globals';
import { createCheckedModels } from '../../../../a2a-server/startup/configured-models.ts';
import { modelSettings } from '../../../support/model-settings.ts';

const SETTINGS: Parameters<typeof createCheckedModels>[0] = {
  ...modelSettings({
    model: 'openai:large',
    fastModel: 'openai:small',
    prices: { 'openai:large': { input: 3, output: 15 } },
  }),
  budgetCost: undefined,
  budgetCostPerDay: undefined,
};
const KEY = { OPENAI_API_KEY: 'k' };

describe('the models that a server offers', () => {
  it('every model must have a key before the server starts the first task', () => {
    expect(() => createCheckedModels(SETTINGS, {})).toThrow(
      expect.objectContaining({
        reason: 'CONFIGURATION',
        message: expect.stringContaining('OPENAI_API_KEY'),
      }),
    );
    expect(createCheckedModels(SETTINGS, KEY).list()).toContain('openai:small');
  });

  it.each(['budgetCost', 'budgetCostPerDay'] as const)(
    'every model must have a price if %s is set; the offline model costs nothing',
    (key) => {
      const budgeted = { ...SETTINGS, [key]: 5 };
      expect(() => createCheckedModels(budgeted, KEY)).toThrow(
        expect.objectContaining({
          reason: 'CONFIGURATION',
          message: `Setting "${key}" needs the price of every model, and the price of openai:small is unknown. Add its price in US dollars per million tokens to the configuration file, e.g. {"server":{"prices":{"openai:small":{"input":3,"output":15}}}}. A free model has the price 0.`,
        }),
      );
      const prices = { ...SETTINGS.prices, 'openai:small': { input: 1, output: 2 } };
      expect(createCheckedModels({ ...budgeted, prices }, KEY).resolve('fast').price).toEqual({
        input: 1,
        output: 2,
      });
      expect(
        createCheckedModels({ ...budgeted, model: 'offline', fastModel: 'offline' }, {}).list(),
      ).toContain('offline');
    },
  );
});
