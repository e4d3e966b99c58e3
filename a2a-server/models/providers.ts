/**
 * Finds the key and the URL of each provider and loads its code. The import happens at the provider's first turn, so
 * that a server without this provider does not load its code. The settings may name a different source for a key.
 *
 * | provider          | key                                                   | URL                                             |
 * | ----------------- | ----------------------------------------------------- | ----------------------------------------------- |
 * | anthropic         | ANTHROPIC_API_KEY                                     | setting, or https://api.anthropic.com/v1        |
 * | google            | GOOGLE_GENERATIVE_AI_API_KEY, or GEMINI_API_KEY       | setting, or Google's                            |
 * | openai            | OPENAI_API_KEY                                        | setting, or https://api.openai.com/v1           |
 * | openrouter        | OPENROUTER_API_KEY                                    | setting, or https://openrouter.ai/api/v1        |
 * | ollama            | OLLAMA_API_KEY, if it needs one                       | setting, or http://127.0.0.1:11434/v1           |
 * | lmstudio          | LMSTUDIO_API_KEY, if it needs one                     | setting, or http://127.0.0.1:1234/v1            |
 * | llamacpp          | LLAMACPP_API_KEY, if it needs one                     | setting, or http://127.0.0.1:8080/v1            |
 * | vllm              | VLLM_API_KEY, if it needs one                         | setting, or http://127.0.0.1:8000/v1            |
 * | openai-compatible | MCP_A2A_OPENAI_COMPATIBLE_API_KEY, if it needs one    | setting, or MCP_A2A_OPENAI_COMPATIBLE_URL       |
 */
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { ProductError } from '../../shared/runtime/errors.ts';
import { BASE_URL, isBaseUrl, type ProviderName } from './model-settings.ts';
import { needsResponses } from './needs-responses.ts';
import { keySource, providerKey, type KeySetting, type KeySource, type ProviderKey } from './provider-key.ts';
import type { ProviderRequest } from './prompt.ts';
import { providerFetch } from './provider-fetch.ts';
import { fetchWithVersion, hasVersion, withoutSlash, withVersion } from './versioned-url.ts';

export const COMPATIBLE_URL = 'MCP_A2A_OPENAI_COMPATIBLE_URL';

type Environment = Readonly<Record<string, string | undefined>>;

interface Provider {
  /** The environment variables for the key. The first variable that is not empty applies. */
  keyVariables: readonly string[];
  keyNeeded: boolean;
  /** Undefined if the user must set the URL. */
  baseUrl: string | undefined;
  load: (model: string, access: ProviderAccess) => Promise<LanguageModelV3>;
  /** The default is `CHAT_COMPLETIONS`. */
  request?: (model: string) => ProviderRequest;
}

/** Anthropic caches only marked prompts, until five minutes after the last use. */
const CACHED = { type: 'ephemeral' };

/** Chat Completions takes files only in user messages. */
const CHAT_COMPLETIONS: ProviderRequest = { filesAfterResults: true };

/** The key and the URL of a provider. The key is empty if the provider needs none. */
interface ProviderAccess {
  baseURL: string;
  apiKey: string;
  fetch: typeof fetch;
}

const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  anthropic: {
    keyVariables: ['ANTHROPIC_API_KEY'],
    keyNeeded: true,
    baseUrl: 'https://api.anthropic.com/v1',
    load: async (model, access) => (await import('@ai-sdk/anthropic')).createAnthropic({ ...access })(model),
    request: () => ({ cachePoint: { anthropic: { cacheControl: CACHED } } }),
  },
  google: {
    keyVariables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    keyNeeded: true,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    load: async (model, access) =>
      (await import('@ai-sdk/google')).createGoogleGenerativeAI({ ...access })(model),
    request: () => ({}),
  },
  openai: {
    keyVariables: ['OPENAI_API_KEY'],
    keyNeeded: true,
    baseUrl: 'https://api.openai.com/v1',
    load: async (model, access) =>
      needsResponses(model)
        ? (await import('@ai-sdk/openai')).createOpenAI({ ...access }).responses(model)
        : compatible('openai', model, access),
    // OpenAI must not store the task. With this option, the answer contains the encrypted reasoning.
    request: (model) =>
      needsResponses(model) ? { options: { openai: { store: false } } } : CHAT_COMPLETIONS,
  },
  openrouter: {
    keyVariables: ['OPENROUTER_API_KEY'],
    keyNeeded: true,
    baseUrl: 'https://openrouter.ai/api/v1',
    load: (model, access) => compatible('openrouter', model, access),
    // With this option, OpenRouter itself sets the cache marks for Anthropic's models.
    request: (model) => ({
      ...CHAT_COMPLETIONS,
      ...(model.startsWith('anthropic/') && { options: { openrouter: { cache_control: CACHED } } }),
    }),
  },
  ollama: {
    keyVariables: ['OLLAMA_API_KEY'],
    keyNeeded: false,
    baseUrl: 'http://127.0.0.1:11434/v1',
    load: (model, access) => compatible('ollama', model, access),
  },
  vllm: {
    keyVariables: ['VLLM_API_KEY'],
    keyNeeded: false,
    baseUrl: 'http://127.0.0.1:8000/v1',
    load: (model, access) => compatible('vllm', model, access),
  },
  lmstudio: {
    keyVariables: ['LMSTUDIO_API_KEY'],
    keyNeeded: false,
    baseUrl: 'http://127.0.0.1:1234/v1',
    load: (model, access) => compatible('lmstudio', model, access),
  },
  llamacpp: {
    keyVariables: ['LLAMACPP_API_KEY'],
    keyNeeded: false,
    baseUrl: 'http://127.0.0.1:8080/v1',
    load: (model, access) => compatible('llamacpp', model, access),
  },
  'openai-compatible': {
    keyVariables: ['MCP_A2A_OPENAI_COMPATIBLE_API_KEY'],
    keyNeeded: false,
    baseUrl: undefined,
    load: (model, access) => compatible('openai-compatible', model, access),
  },
};

async function compatible(
  name: string,
  model: string,
  { baseURL, apiKey, fetch }: ProviderAccess,
): Promise<LanguageModelV3> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  // Without `includeUsage` the endpoint sends no token counts in a stream.
  return createOpenAICompatible({
    name,
    baseURL,
    includeUsage: true,
    ...(apiKey !== '' && { apiKey }),
    fetch: hasVersion(baseURL) ? fetch : fetchWithVersion(baseURL, fetch),
  })(model);
}

interface ProviderConnection {
  baseURL: string;
  /** The URL, if it is not the provider's own. */
  otherURL: string | undefined;
  key: ProviderKey;
  /** Loads the model for a key that `key.read` has returned. */
  load: (model: string, apiKey: string) => Promise<LanguageModelV3>;
  /** Returns additional request options for the model. */
  request: (model: string) => ProviderRequest;
}

/** What the settings say about a provider. */
interface ProviderSettings {
  /** The model that is in use, for messages. */
  model: string;
  baseUrl: string | undefined;
  key: KeySetting | undefined;
}

/**
 * Finds the URL of a provider and the source of its key.
 * @throws ProductError CONFIGURATION, which names the missing or invalid variable
 */
export function resolveProvider(
  name: ProviderName,
  settings: ProviderSettings,
  env: Environment,
): ProviderConnection {
  const provider = PROVIDERS[name];
  const needs = {
    provider: name,
    model: settings.model,
    variables: provider.keyVariables,
    needed: provider.keyNeeded,
  };
  const key = providerKey(needs, settings.key, env);
  const baseURL = providerUrl(name, settings.baseUrl, env);
  const fetchImpl = providerFetch(env);
  return {
    baseURL,
    otherURL: baseURL === provider.baseUrl ? undefined : baseURL,
    key,
    load: (model, apiKey) => provider.load(model, { baseURL, apiKey, fetch: fetchImpl }),
    request: (model) => provider.request?.(model) ?? CHAT_COMPLETIONS,
  };
}

/** Returns the source of a provider's key. `needed` is false for a provider that works without a key. Reads no key. */
export function keyOf(
  name: ProviderName,
  setting: KeySetting | undefined,
  env: Environment,
): { source: KeySource; needed: boolean } {
  const { keyVariables, keyNeeded } = PROVIDERS[name];
  return { source: keySource({ variables: keyVariables }, setting, env), needed: keyNeeded };
}

/**
 * Returns the URL of a provider's API, with its version.
 * @param baseUrl the URL in the settings
 * @throws ProductError CONFIGURATION if the URL is missing or invalid
 */
export function providerUrl(name: ProviderName, baseUrl: string | undefined, env: Environment): string {
  const own = PROVIDERS[name].baseUrl;
  const given = baseUrl ?? own ?? env[COMPATIBLE_URL] ?? '';
  if (given === '')
    throw new ProductError(
      'CONFIGURATION',
      `The provider ${name} needs the URL of its endpoint: set ${COMPATIBLE_URL}, e.g. to http://localhost:11434/v1, or run: mcp-a2a-bridge model set ${name}:<model> --base-url <url>.`,
      { facts: { provider: name, variable: COMPATIBLE_URL } },
    );
  // This URL comes from the environment. The schema of the settings checks the other URLs.
  if (!isBaseUrl(given))
    throw new ProductError(
      'CONFIGURATION',
      `The environment variable ${COMPATIBLE_URL} is not valid. Allowed: ${BASE_URL}, e.g. http://localhost:11434/v1.`,
      { facts: { provider: name, variable: COMPATIBLE_URL } },
    );
  return own === undefined ? withoutSlash(given) : withVersion(given, own);
}
