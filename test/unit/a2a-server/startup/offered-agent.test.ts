import { expect, it } from '@jest/globals';
import { createLazyModels } from '../../../../a2a-server/startup/configured-models.ts';
import { describeOfferedAgent } from '../../../../a2a-server/startup/offered-agent.ts';
import { modelSettingsSchema } from '../../../../a2a-server/models/model-settings.ts';
import type { OfferedAgent } from '../../../../shared/protocol/offered-agent.ts';

function offered(settings: Record<string, unknown>): OfferedAgent {
  const parsed = modelSettingsSchema.parse({ keys: {}, ...settings });
  const models = createLazyModels(parsed, { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' });
  return describeOfferedAgent({ agent: { type: 'model' }, model: parsed.model }, models);
}

it('a server with one model offers no choice, and no tier that is not configured', () => {
  expect(offered({})).toEqual({ agent: 'offline', models: [] });
  expect(offered({ model: 'openai:gpt-5' })).toEqual({ agent: 'openai:gpt-5', models: [] });
});

it('a server with several models offers each once, a tier by its name', () => {
  expect(
    offered({
      model: 'openai:gpt-5',
      fast: 'openai:gpt-5-mini',
      others: ['openai:gpt-5-mini', 'anthropic:claude-sonnet-4-5'],
    }),
  ).toEqual({
    agent: 'openai:gpt-5',
    models: [
      { name: 'fast', id: 'openai:gpt-5-mini' },
      { name: 'anthropic:claude-sonnet-4-5', id: 'anthropic:claude-sonnet-4-5' },
    ],
  });
});

it('a tier with parameters of its own is another choice than the default model', () => {
  expect(offered({ model: 'openai:gpt-5', parameters: { smart: { effort: 'high' } } }).models).toEqual([
    { name: 'smart', id: 'openai:gpt-5' },
  ]);
});
