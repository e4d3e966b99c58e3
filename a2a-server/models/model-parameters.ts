/** Validates the parameters of a model or tier, and converts them to request options. Pure. */
import type { SharedV3ProviderOptions } from '@ai-sdk/provider';
import { z } from 'zod';
import type { ProviderRequestOptions } from './ai-sdk-prompt.ts';
import type { ProviderName } from './model-settings.ts';
import type { ParameterLimits } from './known-models.ts';

export const modelParametersSchema = z.strictObject({
  /** The sampling temperature. With a low value, answers to the same prompt differ less. */
  temperature: z.number().min(0).max(2).optional(),
  /**
   * The maximum length of an answer in tokens, including reasoning. Claude 4.5 and older add the reasoning budget to
   * this maximum.
   */
  maxOutputTokens: z.number().int().min(256).optional(),
  effort: z.enum(['low', 'medium', 'high']).optional(),
});
export type ModelParameters = z.infer<typeof modelParametersSchema>;

type Effort = NonNullable<ModelParameters['effort']>;

interface ProviderAndModel {
  provider: ProviderName;
  model: string;
}

/** The reasoning budget for each effort, in tokens. Only models without an effort parameter need it. */
const REASONING_BUDGET: Readonly<Record<Effort, number>> = { low: 2_048, medium: 8_192, high: 24_576 };

interface ModelLimits extends ParameterLimits {
  contextWindow: number;
}

/**
 * Returns the reason why the model refuses the parameters, as the end of a sentence. Returns undefined if the model
 * accepts them. Also undefined if only the provider knows the model's rules.
 */
export function parameterRefusal(
  named: ProviderAndModel,
  parameters: ModelParameters,
  limits: ModelLimits,
): string | undefined {
  return (
    effortRefusal(parameters, limits) ??
    temperatureRefusal(named, parameters, limits) ??
    outputRefusal(named, parameters, limits)
  );
}

function effortRefusal({ effort }: ModelParameters, { efforts }: ModelLimits): string | undefined {
  if (effort === undefined || efforts === undefined || efforts.includes(effort)) return undefined;
  if (efforts.length === 0) return 'it does not reason, and takes no "effort"';
  return `it takes only these values of "effort": ${efforts.join(', ')}`;
}

function temperatureRefusal(
  { provider }: ProviderAndModel,
  { temperature, effort }: ModelParameters,
  limits: ModelLimits,
): string | undefined {
  if (temperature === undefined) return undefined;
  if (limits.temperature === false) return 'it takes no "temperature"';
  // Anthropic's Messages API accepts a temperature from 0 to 1. With extended thinking, it accepts none.
  if (provider === 'anthropic' && temperature > 1) return 'its maximum "temperature" is 1';
  if (provider === 'anthropic' && effort !== undefined)
    return 'it takes no "temperature" together with "effort"';
  return undefined;
}

function outputRefusal(
  named: ProviderAndModel,
  { maxOutputTokens: wanted, effort }: ModelParameters,
  { maxOutputTokens: limit, contextWindow }: ModelLimits,
): string | undefined {
  if (wanted === undefined) return undefined;
  if (wanted >= contextWindow)
    return `"maxOutputTokens" must be below its context window of ${contextWindow} tokens`;
  if (limit === undefined) return undefined;
  if (wanted > limit) return `its maximum "maxOutputTokens" is ${limit}`;
  // The AI SDK's client for Anthropic adds the budget to the requested maximum, so both together must be within the
  // limit. At OpenRouter, the maximum includes the budget.
  const adds = named.provider === 'anthropic' && hasBudget(named);
  const budget = effort !== undefined && adds ? REASONING_BUDGET[effort] : 0;
  if (wanted + budget <= limit) return undefined;
  return `with the reasoning budget of ${budget} tokens for "effort", its maximum "maxOutputTokens" is ${limit - budget}`;
}

export function providerParameters(
  named: ProviderAndModel,
  { temperature, maxOutputTokens, effort }: ModelParameters,
): Omit<ProviderRequestOptions, 'cachePoint'> {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(effort && effortRequest(named, effort)),
  };
}

function effortRequest(
  named: ProviderAndModel,
  effort: Effort,
): Pick<ProviderRequestOptions, 'options' | 'reasoningOptions'> {
  const options = effortOptions(named, effort);
  return hasBudget(named) ? { reasoningOptions: options } : { options };
}

/** True for Claude models before 4.6, which need a reasoning budget. Later models choose the amount of reasoning. */
function hasBudget({ provider, model }: ProviderAndModel): boolean {
  const claude = provider === 'anthropic' || (provider === 'openrouter' && model.startsWith('anthropic/'));
  return claude && !/^(?:anthropic\/)?claude-[a-z]+-(?:4[-.][6-9]|[5-9]|\d{2})/.test(model);
}

function effortOptions(named: ProviderAndModel, effort: Effort): SharedV3ProviderOptions {
  const { provider, model } = named;
  const budget = REASONING_BUDGET[effort];
  switch (provider) {
    case 'anthropic':
      // With `summarized`, the answer contains the text of the reasoning.
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
      // OpenRouter: "You can enable reasoning on Anthropic models only using the unified `reasoning` parameter."
      return { openrouter: { reasoning: { effort } } };
    case 'ollama':
    case 'lmstudio':
    case 'llamacpp':
    case 'vllm':
    case 'openai-compatible':
      return { openaiCompatible: { reasoningEffort: effort } };
  }
}
