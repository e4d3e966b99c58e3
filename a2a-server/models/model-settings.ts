import { MODEL_TIERS } from '../../shared/settings/model-tiers.ts';
import { defineSetting, type SettingValues } from '../../shared/settings/resolve-settings.ts';
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

const MODEL_ALLOWED = `${OFFLINE_MODEL_ID}, or provider:model, e.g. ${EXAMPLE_MODEL}`;

/**
 * The settings that choose models. The server uses only models that they name. A key in the environment alone does not
 * allow requests to that provider.
 */
export const MODEL_SETTINGS = {
  model: defineSetting({
    schema: modelIdSchema,
    fallback: OFFLINE_MODEL_ID,
    describe: 'default model: offline, or provider:model',
    placeholder: 'id',
    allowed: MODEL_ALLOWED,
  }),
  fastModel: defineSetting({
    placeholder: 'id',
    schema: modelIdSchema.optional(),
    describe: 'model of the tier "fast" (default: the default model)',
    allowed: MODEL_ALLOWED,
  }),
  smartModel: defineSetting({
    placeholder: 'id',
    schema: modelIdSchema.optional(),
    describe: 'model of the tier "smart" (default: the default model)',
    allowed: MODEL_ALLOWED,
  }),
  otherModel: defineSetting({
    kind: 'list',
    placeholder: 'id',
    schema: z.array(modelIdSchema),
    fallback: [],
    describe: 'another model that tasks may choose by id; may be repeated',
    allowed: MODEL_ALLOWED,
  }),
} as const;

/** The tables of the configuration file about models. None of them contains a key. */
export const MODEL_TABLE_SETTINGS = {
  // Each URL ends before the method's path, e.g. `https://host/v1`.
  baseUrls: defineSetting({
    schema: z.partialRecord(providerNameSchema, baseUrl),
    fallback: {},
    describe: 'other base URLs of model providers',
    allowed: 'in the configuration file, {"provider": "URL"}',
  }),
  keys: defineSetting({
    schema: z.partialRecord(providerNameSchema, providerKeySettingSchema),
    fallback: {},
    describe: 'where the keys of model providers come from, if not from their usual variables',
    allowed:
      'in the configuration file, {"provider": {"env": "NAME"}} or {"provider": {"command": ["program", "argument"]}}',
  }),
  prices: defineSetting({
    schema: z.record(modelIdSchema, price),
    fallback: {},
    describe:
      'prices of models in US dollars per million tokens (default: the list prices of well-known models)',
    allowed: 'in the configuration file, {"provider:model": {"input": 3, "output": 15, "cachedInput": 0.3}}',
  }),
  contextWindow: defineSetting({
    schema: z.record(modelIdSchema, z.number().int().min(MIN_WINDOW_TOKENS)),
    fallback: {},
    describe: `context windows of models in tokens (default: those of well-known models, otherwise ${DEFAULT_WINDOW_TOKENS})`,
    allowed: 'in the configuration file, {"provider:model": 32768}, from 8000',
  }),
  inputModes: defineSetting({
    schema: z.record(modelIdSchema, z.array(z.enum(FILE_MEDIA_TYPES))),
    fallback: {},
    describe: 'types of the files that models take (default: those of well-known models, otherwise none)',
    allowed: `in the configuration file, {"provider:model": ["image/png"]}, of ${FILE_MEDIA_TYPES.join(', ')}`,
  }),
  // The parameters of a tier override those of its model.
  modelParameters: defineSetting({
    schema: z.record(z.union([z.enum(MODEL_TIERS), modelIdSchema]), modelParametersSchema),
    fallback: {},
    describe: 'temperature, output limit and reasoning effort, by tier or model id',
    allowed:
      'in the configuration file, {"smart": {"effort": "high"}, "provider:model": {"temperature": 0.2, "maxOutputTokens": 8000}}',
  }),
} as const;

export type ModelSettings = SettingValues<typeof MODEL_SETTINGS & typeof MODEL_TABLE_SETTINGS>;

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
