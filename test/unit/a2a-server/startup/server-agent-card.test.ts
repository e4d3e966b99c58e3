import { expect, it } from '@jest/globals';
import { describeOfferedAgent } from '../../../../a2a-server/startup/server-agent-card.ts';
import type { OfferedAgent } from '../../../../shared/protocol/offered-agent.ts';
import { modelSettings, modelsOf } from '../../../support/model-settings.ts';

function offered(settings: Record<string, unknown>): OfferedAgent {
  const models = modelsOf(settings, { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' });
  const { model } = modelSettings(settings);
  return describeOfferedAgent({ agent: { type: 'model' }, model }, models);
}

it('a server with one model offers no choice, and no tier that is not configured', () => {
  expect(offered({})).toEqual({ agent: 'offline', models: [] });
  expect(offered({ model: 'openai:gpt-5' })).toEqual({ agent: 'openai:gpt-5', models: [] });
});

it('a server with several models offers each once, a tier by its name', () => {
  expect(
    offered({
      model: 'openai:gpt-5',
      fastModel: 'openai:gpt-5-mini',
      otherModel: ['openai:gpt-5-mini', 'anthropic:claude-sonnet-4-5'],
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
  expect(offered({ model: 'openai:gpt-5', modelParameters: { smart: { effort: 'high' } } }).models).toEqual([
    { name: 'smart', id: 'openai:gpt-5' },
  ]);
});
