/** Parameters of a model or a tier: temperature, output limit, reasoning effort. Pure. */
import type { SharedV3ProviderOptions } from '@ai-sdk/provider';
import { z } from 'zod';
import type { ProviderRequest } from './prompt.ts';
import type { ProviderName } from './model-settings.ts';
import { needsResponses } from './needs-responses.ts';

export const modelParametersSchema = z.strictObject({
  /** The randomness of answers. With a low value, answers to the same prompt differ less. */
  temperature: z.number().min(0).max(2).optional(),
  /**
   * The maximum answer in tokens, including reasoning. For Claude 4.5 and older, the reasoning budget is added to this
   * maximum.
   */
  maxOutputTokens: z.number().int().min(256).optional(),
  /** The amount of reasoning before the answer. */
  effort: z.enum(['low', 'medium', 'high']).optional(),
});
export type ModelParameters = z.infer<typeof modelParametersSchema>;

type Effort = NonNullable<ModelParameters['effort']>;

interface Named {
  provider: ProviderName;
  model: string;
}

/** The reasoning budget in tokens, for models without an effort parameter. */
const REASONING_BUDGET: Readonly<Record<Effort, number>> = { low: 2_048, medium: 8_192, high: 24_576 };

/**
 * Returns the reason why the model refuses the parameters, as the end of a sentence. Undefined for accepted parameters,
 * and for a model whose rules only its provider knows.
 */
export function parameterRefusal(
  { provider, model }: Named,
  { temperature, maxOutputTokens, effort }: ModelParameters,
  contextWindow: number,
): string | undefined {
  if (maxOutputTokens !== undefined && maxOutputTokens >= contextWindow)
    return `"maxOutputTokens" must be below its context window of ${contextWindow} tokens`;
  const reasons = provider === 'openai' && needsResponses(model);
  if (temperature !== undefined) {
    if (reasons) return 'it takes no "temperature"';
    if (provider === 'anthropic' && temperature > 1) return 'its maximum "temperature" is 1';
    if (provider === 'anthropic' && effort !== undefined)
      return 'it takes no "temperature" together with "effort"';
  }
  if (effort === undefined) return undefined;
  if (provider === 'openai' && !reasons) return 'it does not reason, and takes no "effort"';
  if (provider === 'google' && !/^gemini-(?:2\.5|[3-9]|\d{2}|flash|pro)/.test(model))
    return 'it does not reason, and takes no "effort"';
  return undefined;
}

/** Converts the parameters to request options. */
export function parameterRequest(
  named: Named,
  { temperature, maxOutputTokens, effort }: ModelParameters,
): Omit<ProviderRequest, 'cachePoint'> {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(effort && effortRequest(named, effort)),
  };
}

function effortRequest(named: Named, effort: Effort): Pick<ProviderRequest, 'options' | 'reasoningOptions'> {
  const options = effortOptions(named, effort);
  return hasBudget(named) ? { reasoningOptions: options } : { options };
}

/** Claude 4.6 and later choose the amount of reasoning. Older models take a budget. */
function hasBudget({ provider, model }: Named): boolean {
  return provider === 'anthropic' && !/^claude-[a-z]+-(?:4-[6-9]|[5-9]|\d{2})/.test(model);
}

function effortOptions(named: Named, effort: Effort): SharedV3ProviderOptions {
  const { provider, model } = named;
  const budget = REASONING_BUDGET[effort];
  switch (provider) {
    case 'anthropic':
      // `summarized` returns the text of the reasoning.
      return hasBudget(named)
        ? { anthropic: { thinking: { type: 'enabled', budgetTokens: budget } } }
        : { anthropic: { effort, thinking: { type: 'adaptive', display: 'summarized' } } };
    case 'google':
      return {
        google: {
          thinkingConfig: {
            includeThoughts: true,
            ...(model.startsWith('gemini-2.5') ? { thinkingBudget: budget } : { thinkingLevel: effort }),
          },
        },
      };
    case 'openai':
      return { openai: { reasoningEffort: effort } };
    case 'openrouter':
    case 'ollama':
    case 'lmstudio':
    case 'llamacpp':
    case 'vllm':
    case 'openai-compatible':
      return { openaiCompatible: { reasoningEffort: effort } };
  }
}
