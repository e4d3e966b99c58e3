import { MODEL_TIERS } from '../../shared/settings/model-tiers.ts';
import { z } from 'zod';
import { modelParametersSchema } from './model-parameters.ts';
import { providerKeySettingSchema } from './provider-key.ts';
import { FILE_MEDIA_TYPES } from '../../shared/protocol/attached-file.ts';
import { parseUrl } from '../../shared/net/parse-url.ts';

/** The names of the model providers. `openai-compatible` is any endpoint with OpenAI's chat completions API. */
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

/**
 * The environment variable with the base URL of the provider `openai-compatible`. A URL in the settings overrides it.
 */
export const COMPATIBLE_URL_VARIABLE = 'MCP_A2A_OPENAI_COMPATIBLE_URL';

/** The default model. It needs no key and no network. */
export const OFFLINE_MODEL_ID = 'offline';
export const EXAMPLE_MODEL = 'anthropic:claude-sonnet-4-5';

/** The schema of a model id: `offline`, or `provider:model`, e.g. `anthropic:claude-sonnet-4-5`. */
export const modelIdSchema = z
  .string()
  .max(200)
  .refine((id) => id === OFFLINE_MODEL_ID || parseModelId(id) !== undefined, {
    error: `a model is "${OFFLINE_MODEL_ID}" or "provider:model", with one of the providers ${providerNameSchema.options.join(', ')}`,
  });

export const BASE_URL_DESCRIPTION = 'an http or https URL without user, password or query';

/** True for an http or https URL without user, password and query. These parts would appear in messages and logs. */
export function isBaseUrl(text: string): boolean {
  const url = parseUrl(text);
  if (url === undefined) return false;
  const { protocol, username, password, search } = url;
  return /^https?:$/.test(protocol) && username === '' && password === '' && search === '';
}

const baseUrl = z.string().refine(isBaseUrl, { error: `expected ${BASE_URL_DESCRIPTION}` });

/** Prices in US dollars per million tokens. */
const rates = {
  input: z.number().min(0),
  output: z.number().min(0),
  cachedInput: z.number().min(0).optional(),
  cacheWrite: z.number().min(0).optional(),
};
/** A time of day in UTC, e.g. `16:30`. */
const timeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/);
const price = z.strictObject({
  ...rates,
  longPrompt: z.strictObject({ above: z.number().int().min(1), ...rates }).optional(),
  hours: z.array(z.strictObject({ from: timeOfDay, to: timeOfDay, ...rates })).optional(),
});

/**
 * The assumed context window of an unknown model, in tokens. Recent models have at least this window. For a smaller
 * model, the settings must give the window.
 */
export const DEFAULT_WINDOW_TOKENS = 128_000;
/** The smallest allowed context window, in tokens. The system prompt and the tools use about a third of this window. */
export const MIN_WINDOW_TOKENS = 8_000;

/**
 * The server uses only models that the settings name. A key in the environment alone does not allow requests to that
 * provider. The settings contain no key.
 */
export const modelSettingsSchema = z.strictObject({
  model: modelIdSchema.default(OFFLINE_MODEL_ID).describe('default model: offline, or provider:model'),
  fast: modelIdSchema.optional().describe('model of the tier "fast"; by default the default model'),
  smart: modelIdSchema.optional().describe('model of the tier "smart"; by default the default model'),
  others: z.array(modelIdSchema).default([]).describe('more models that a task can choose by id'),
  /** The base URLs of providers. Each URL ends before the method's path, e.g. `https://host/v1`. */
  baseUrls: z
    .partialRecord(providerNameSchema, baseUrl)
    .default({})
    .describe('other base URLs of providers, e.g. {"openai-compatible": "http://localhost:11434/v1"}'),
  keys: z
    .partialRecord(providerNameSchema, providerKeySettingSchema)
    .default({})
    .describe('where the keys of providers come from: a variable, or a command that prints the key'),
  prices: z
    .record(modelIdSchema, price)
    .default({})
    .describe('prices of models in US dollars per million tokens, by model id'),
  /** The parameters of models and tiers. A tier's parameters override those of its model. */
  parameters: z
    .record(z.union([z.enum(MODEL_TIERS), modelIdSchema]), modelParametersSchema)
    .default({})
    .describe('temperature, output limit and reasoning effort, by tier or model id'),
  contextWindow: z
    .record(modelIdSchema, z.number().int().min(MIN_WINDOW_TOKENS))
    .default({})
    .describe(`context windows of models in tokens, by model id; default ${DEFAULT_WINDOW_TOKENS}`),
  inputModes: z
    .record(modelIdSchema, z.array(z.enum(FILE_MEDIA_TYPES)))
    .default({})
    .describe('types of the files that models take, by model id'),
});
export type ModelSettings = z.infer<typeof modelSettingsSchema>;

/** Splits `provider:model`. Returns undefined for any other text. */
export function parseModelId(id: string): { provider: ProviderName; model: string } | undefined {
  const colon = id.indexOf(':');
  const provider = providerNameSchema.safeParse(id.slice(0, colon === -1 ? undefined : colon));
  const model = id.slice(colon + 1);
  if (colon === -1 || !provider.success || !/^\S+$/.test(model)) return undefined;
  return { provider: provider.data, model };
}

/** Chooses what runs the turns of a task: a language model, a script, or an ACP program. */
export type AgentSetting =
  | { type: 'model' }
  | { type: 'scripted'; file: string }
  | { type: 'acp'; command: string; args: string[] };
