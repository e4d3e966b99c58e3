/** The settings of the models. */
import { z } from 'zod';
import { modelParametersSchema } from './model-parameters.ts';
import { keySettingSchema } from './provider-key.ts';
import { FILE_TYPES } from '../../shared/protocol/attached-file.ts';
import { parseUrl } from '../../shared/net/parse-url.ts';

/** The model providers. `openai-compatible` is any endpoint with OpenAI's chat completions API. */
export const providerNameSchema = z.enum([
  'anthropic',
  'google',
  'openai',
  'openrouter',
  'ollama',
  'lmstudio',
  'llamacpp',
  'vllm',
  'openai-compatible',
]);
export type ProviderName = z.infer<typeof providerNameSchema>;

/** The id of the default model, which needs no key and no network. */
export const OFFLINE_MODEL_ID = 'offline';
/** The model in examples of commands. */
export const EXAMPLE_MODEL = 'anthropic:claude-sonnet-4-5';
/** Names that stand for models. A client can use them without knowing the server's models. */
export const TIERS = ['fast', 'smart'] as const;

/** `offline`, or `provider:model`, e.g. `anthropic:claude-sonnet-4-5`. */
export const modelIdSchema = z
  .string()
  .max(200)
  .refine((id) => id === OFFLINE_MODEL_ID || parseModelId(id) !== undefined, {
    error: `a model is "${OFFLINE_MODEL_ID}" or "provider:model", with one of the providers ${providerNameSchema.options.join(', ')}`,
  });

/** The condition of `isBaseUrl`, for error messages. */
export const BASE_URL = 'an http or https URL without user, password or query';

/** Refuses a URL with user, password or query, because they would appear in messages and logs. */
export function isBaseUrl(text: string): boolean {
  const url = parseUrl(text);
  if (url === undefined) return false;
  const { protocol, username, password, search } = url;
  return /^https?:$/.test(protocol) && username === '' && password === '' && search === '';
}

const baseUrl = z.string().refine(isBaseUrl, { error: `expected ${BASE_URL}` });

/** Prices in US dollars per million tokens. */
const rates = {
  input: z.number().min(0),
  output: z.number().min(0),
  cachedInput: z.number().min(0).optional(),
  cacheWrite: z.number().min(0).optional(),
};
const price = z.strictObject({
  ...rates,
  longPrompt: z.strictObject({ above: z.number().int().min(1), ...rates }).optional(),
});

/**
 * The default context window in tokens. Recent models have at least this window. The settings must give the windows of
 * smaller models.
 */
export const DEFAULT_WINDOW = 128_000;
/** The minimum context window in tokens. The system prompt and the tools take about a third of it. */
export const LEAST_WINDOW = 8_000;

/**
 * The server uses only models that the settings name. A key in the environment alone does not allow the server to send
 * files to that provider. The settings contain no key: the key is in the environment, or a command prints it.
 */
export const modelSettingsSchema = z.strictObject({
  /** The model for tasks that do not choose one. */
  model: modelIdSchema.default(OFFLINE_MODEL_ID).describe('default model: offline, or provider:model'),
  /** The models of the tiers; the default is the default model. */
  fast: modelIdSchema.optional().describe('model of the tier "fast"; by default the default model'),
  smart: modelIdSchema.optional().describe('model of the tier "smart"; by default the default model'),
  /** More models that a task can choose by id. */
  others: z.array(modelIdSchema).default([]).describe('more models that a task can choose by id'),
  /** Other base URLs of providers, without the last part of the path, e.g. `https://host/v1`. */
  baseUrls: z
    .partialRecord(providerNameSchema, baseUrl)
    .default({})
    .describe('other base URLs of providers, e.g. {"openai-compatible": "http://localhost:11434/v1"}'),
  /** The sources of keys, by provider. They override the usual variables of the provider. */
  keys: z
    .partialRecord(providerNameSchema, keySettingSchema)
    .default({})
    .describe('where the keys of providers come from: a variable, or a command that prints the key'),
  /** The prices of models, by id. They override those of `known-models.json`. */
  prices: z
    .record(modelIdSchema, price)
    .default({})
    .describe('prices of models in US dollars per million tokens, by model id'),
  /** Parameters by tier or model id. A tier's parameters override those of its model. */
  parameters: z
    .record(z.union([z.enum(TIERS), modelIdSchema]), modelParametersSchema)
    .default({})
    .describe('temperature, output limit and reasoning effort, by tier or model id'),
  /** The context windows of models, by id. They override those of `known-models.json`. */
  contextWindow: z
    .record(modelIdSchema, z.number().int().min(LEAST_WINDOW))
    .default({})
    .describe(`context windows of models in tokens, by model id; default ${DEFAULT_WINDOW}`),
  /** The types of the files that models take, by id. They override those of `known-models.json`. */
  inputModes: z
    .record(modelIdSchema, z.array(z.enum(FILE_TYPES)))
    .default({})
    .describe('types of the files that models take, by model id'),
});
export type ModelSettings = z.infer<typeof modelSettingsSchema>;

/** Splits `provider:model`; undefined for anything else. */
export function parseModelId(id: string): { provider: ProviderName; model: string } | undefined {
  const colon = id.indexOf(':');
  const provider = providerNameSchema.safeParse(id.slice(0, colon === -1 ? undefined : colon));
  const model = id.slice(colon + 1);
  if (colon === -1 || !provider.success || !/^\S+$/.test(model)) return undefined;
  return { provider: provider.data, model };
}

/** The kind of agent that runs the turns of a task: a language model, a script, or an ACP program. */
export type AgentChoice =
  { type: 'model' } | { type: 'scripted'; file: string } | { type: 'acp'; command: string; args: string[] };
