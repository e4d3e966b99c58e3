/**
 * Resolves the key and the URL of each provider, and loads the provider's code. The code is imported at the provider's
 * first turn. A server without this provider never loads it. The settings can name another source of the key.
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
import type { StreamingModel } from './ai-sdk-model.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import {
  BASE_URL_DESCRIPTION,
  COMPATIBLE_URL_VARIABLE,
  isBaseUrl,
  type ProviderName,
} from './model-settings.ts';
import { needsResponsesApi } from './provider-requests/needs-responses-api.ts';
import {
  selectProviderKeySource,
  createProviderKeyReader,
  type ProviderKeySetting,
  type ProviderKeySource,
  type ProviderKeyReader,
} from './provider-key.ts';
import type { ProviderRequestOptions } from './ai-sdk-prompt.ts';
import { createProviderFetch } from './provider-requests/provider-fetch.ts';
import { loadChatCompletionsModel } from './provider-requests/chat-completions.ts';
import { needsThoughtSignatures, withThoughtSignatures } from './provider-requests/gemini-signatures.ts';
import { moveReasoningDetailsToMessages } from './provider-requests/reasoning-details.ts';
import { moveReasoningTextToMessages } from './provider-requests/reasoning-text.ts';
import { withoutTrailingSlash, withApiVersion } from './provider-requests/versioned-url.ts';

interface Provider {
  /** The key comes from the first of these environment variables that is not empty. */
  keyVariables: readonly string[];
  keyNeeded: boolean;
  /** The provider's default URL. Undefined if only the user knows the URL. */
  baseUrl: string | undefined;
  load: (model: string, access: ProviderAccess) => Promise<StreamingModel>;
  request?: (model: string) => ProviderRequestOptions;
}

/**
 * Marks a part of a prompt for Anthropic's cache. Anthropic caches only marked prompts. The cache expires five minutes
 * after the last use.
 */
const CACHE_CONTROL = { type: 'ephemeral' };

/** The options for Chat Completions, which accepts files only in user messages. */
const CHAT_COMPLETIONS_REQUEST_OPTIONS: ProviderRequestOptions = { filesAfterResults: true };

/** The access to a provider. `apiKey` is empty if the provider needs no key. */
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
    request: () => ({ cachePoint: { anthropic: { cacheControl: CACHE_CONTROL } } }),
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
      needsResponsesApi(model)
        ? (await import('@ai-sdk/openai')).createOpenAI({ ...access }).responses(model)
        : loadCompatibleModel('openai', model, access),
    // OpenAI must not store the conversation. With `store: false`, the answer contains the encrypted reasoning.
    request: (model) =>
      needsResponsesApi(model) ? { options: { openai: { store: false } } } : CHAT_COMPLETIONS_REQUEST_OPTIONS,
  },
  openrouter: {
    keyVariables: ['OPENROUTER_API_KEY'],
    keyNeeded: true,
    baseUrl: 'https://openrouter.ai/api/v1',
    load: (model, access) =>
      loadChatCompletionsModel('openrouter', model, {
        ...access,
        adapt: (prompt) => moveReasoningDetailsToMessages(prompt, needsThoughtSignatures(model)),
      }),
    // With this option, OpenRouter marks the prompts of Anthropic's models for the cache.
    request: (model) => ({
      ...CHAT_COMPLETIONS_REQUEST_OPTIONS,
      ...(model.startsWith('anthropic/') && { options: { openrouter: { cache_control: CACHE_CONTROL } } }),
    }),
  },
  ollama: {
    keyVariables: ['OLLAMA_API_KEY'],
    keyNeeded: false,
    baseUrl: 'http://127.0.0.1:11434/v1',
    load: (model, access) =>
      loadChatCompletionsModel('ollama', model, { ...access, adapt: moveReasoningTextToMessages }),
  },
  vllm: {
    keyVariables: ['VLLM_API_KEY'],
    keyNeeded: false,
    baseUrl: 'http://127.0.0.1:8000/v1',
    load: (model, access) =>
      loadChatCompletionsModel('vllm', model, { ...access, adapt: moveReasoningTextToMessages }),
  },
  lmstudio: {
    keyVariables: ['LMSTUDIO_API_KEY'],
    keyNeeded: false,
    baseUrl: 'http://127.0.0.1:1234/v1',
    load: (model, access) => loadCompatibleModel('lmstudio', model, access),
  },
  llamacpp: {
    keyVariables: ['LLAMACPP_API_KEY'],
    keyNeeded: false,
    baseUrl: 'http://127.0.0.1:8080/v1',
    load: (model, access) => loadCompatibleModel('llamacpp', model, access),
  },
  'openai-compatible': {
    keyVariables: ['MCP_A2A_OPENAI_COMPATIBLE_API_KEY'],
    keyNeeded: false,
    baseUrl: undefined,
    load: (model, access) => loadCompatibleModel('openai-compatible', model, access),
  },
};

/**
 * Loads a model from any endpoint with the Chat Completions API. The model may be Gemini behind another company's
 * gateway, which needs signatures.
 */
function loadCompatibleModel(name: string, model: string, access: ProviderAccess): Promise<StreamingModel> {
  return loadChatCompletionsModel(name, model, {
    ...access,
    adapt: needsThoughtSignatures(model) ? withThoughtSignatures : undefined,
  });
}

interface ProviderConnection {
  baseURL: string;
  /** The URL, if it differs from the provider's default URL. */
  otherURL: string | undefined;
  key: ProviderKeyReader;
  /** Loads the model. Must be called after `key.read` has returned the key. */
  load: (model: string, apiKey: string) => Promise<StreamingModel>;
  request: (model: string) => ProviderRequestOptions;
}

interface ProviderSettings {
  model: string;
  baseUrl: string | undefined;
  key: ProviderKeySetting | undefined;
}

/**
 * Finds the URL of a provider and the source of its key.
 * @throws ProductError CONFIGURATION, which names the missing or invalid variable
 */
export function resolveProviderConnection(
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
  const key = createProviderKeyReader(needs, settings.key, env);
  const baseURL = providerUrl(name, settings.baseUrl, env);
  const fetchImpl = createProviderFetch(env);
  return {
    baseURL,
    otherURL: baseURL === provider.baseUrl ? undefined : baseURL,
    key,
    load: (model, apiKey) => provider.load(model, { baseURL, apiKey, fetch: fetchImpl }),
    request: (model) => provider.request?.(model) ?? CHAT_COMPLETIONS_REQUEST_OPTIONS,
  };
}

/**
 * Returns the source of a provider's key, without reading the key. `needed` is false if the provider works without a
 * key.
 */
export function keySourceOfProvider(
  name: ProviderName,
  setting: ProviderKeySetting | undefined,
  env: Environment,
): { source: ProviderKeySource; needed: boolean } {
  const { keyVariables, keyNeeded } = PROVIDERS[name];
  return { source: selectProviderKeySource({ variables: keyVariables }, setting, env), needed: keyNeeded };
}

/**
 * Returns the URL of a provider's API, including the API version.
 * @throws ProductError CONFIGURATION if the URL is missing or invalid
 */
export function providerUrl(name: ProviderName, baseUrl: string | undefined, env: Environment): string {
  const own = PROVIDERS[name].baseUrl;
  const given = baseUrl ?? own ?? env[COMPATIBLE_URL_VARIABLE] ?? '';
  if (given === '')
    throw new ProductError(
      'CONFIGURATION',
      `The provider ${name} needs the URL of its endpoint: set ${COMPATIBLE_URL_VARIABLE}, e.g. to http://localhost:11434/v1, or run: mcp-a2a-bridge model set ${name}:<model> --base-url <url>.`,
      { facts: { provider: name, variable: COMPATIBLE_URL_VARIABLE } },
    );
  // This checks a URL from the environment. The schema of the settings has already checked every other URL.
  if (!isBaseUrl(given))
    throw new ProductError(
      'CONFIGURATION',
      `The environment variable ${COMPATIBLE_URL_VARIABLE} is not valid. Allowed: ${BASE_URL_DESCRIPTION}, e.g. http://localhost:11434/v1.`,
      { facts: { provider: name, variable: COMPATIBLE_URL_VARIABLE } },
    );
  return own === undefined ? withoutTrailingSlash(given) : withApiVersion(given, own);
}
