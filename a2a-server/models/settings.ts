/** Which models a server offers. */
import { z } from 'zod';
import { parseUrl } from '../../shared/parse-url.ts';

/** Where models come from: `openai-compatible` is any endpoint that speaks OpenAI's chat completions. */
export const providerName = z.enum([
  'anthropic',
  'google',
  'openai',
  'openrouter',
  'ollama',
  'vllm',
  'openai-compatible',
]);
export type ProviderName = z.infer<typeof providerName>;

/** The id of the model that needs nothing, and is the default. */
export const OFFLINE = 'offline';
/** What a task may ask for without knowing a model's name. */
export const TIERS = ['fast', 'smart'] as const;

/** `offline`, or `provider:model`, e.g. `anthropic:claude-sonnet-4-5`. */
export const modelId = z
  .string()
  .max(200)
  .refine((id) => id === OFFLINE || parseModelId(id) !== undefined, {
    error: `a model is "${OFFLINE}" or "provider:model", with one of the providers ${providerName.options.join(', ')}`,
  });

/** An http(s) address without a user, a password or a query: those would end up in messages and logs. */
const baseUrl = z.string().refine(
  (text) => {
    const url = parseUrl(text);
    if (url === undefined) return false;
    const { protocol, username, password, search } = url;
    return /^https?:$/.test(protocol) && username === '' && password === '' && search === '';
  },
  { error: 'expected an http or https address without user, password or query' },
);

/** US dollars for a million tokens. */
const price = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  cachedInput: z.number().min(0).optional(),
});

/** In tokens. What models of the last years take at least; one that takes less has to be named. */
export const DEFAULT_WINDOW = 128_000;
/** In tokens. Instructions and tools alone take about a third of it. */
const LEAST_WINDOW = 8_000;

/**
 * A model is only ever asked when it is named here: that a key lies in the environment is not a wish to send files to
 * its provider. Keys are not settings; they come from the environment (see `providers.ts`).
 */
export const modelSettings = z.strictObject({
  /** The model of a task that asks for none. */
  model: modelId.default(OFFLINE).describe('model of a task that asks for none: offline, or provider:model'),
  /** The tiers; one that is not set is the default model. */
  fast: modelId.optional().describe('model of the tier "fast"; by default the default model'),
  smart: modelId.optional().describe('model of the tier "smart"; by default the default model'),
  /** Further models a task may ask for by id. */
  others: z.array(modelId).default([]).describe('further models a task may ask for by id'),
  /** Another address for a provider, up to and without the last part of the path, e.g. `https://host/v1`. */
  baseUrls: z
    .partialRecord(providerName, baseUrl)
    .default({})
    .describe('another address for a provider, e.g. {"openai-compatible": "http://localhost:11434/v1"}'),
  /** What a model costs, by its id. There is no table of prices here: they change, and a wrong one is worse than none. */
  prices: z
    .record(modelId, price)
    .default({})
    .describe('what models cost, in US dollars for a million tokens, by the id of the model'),
  /** How much a model takes, by its id. */
  contextWindow: z
    .record(modelId, z.number().int().min(LEAST_WINDOW))
    .default({})
    .describe(`how many tokens models take, by the id of the model; ${DEFAULT_WINDOW} for any other`),
});
export type ModelSettings = z.infer<typeof modelSettings>;

/** `provider:model` in its two halves; undefined for anything else. */
export function parseModelId(id: string): { provider: ProviderName; model: string } | undefined {
  const colon = id.indexOf(':');
  const provider = providerName.safeParse(id.slice(0, colon === -1 ? undefined : colon));
  const model = id.slice(colon + 1);
  if (colon === -1 || !provider.success || !/^\S+$/.test(model)) return undefined;
  return { provider: provider.data, model };
}
