/**
 * Finds programs on this machine that serve models, at their usual ports: Ollama, LM Studio, llama.cpp and vLLM. The
 * settings may give another port. The search asks only loopback addresses, and sends no key.
 */
import { z } from 'zod';
import { boundedBytes } from '../../shared/net/bounded-body.ts';
import { isLoopback } from '../../shared/net/loopback.ts';
import type { ModelSettings, ProviderName } from './model-settings.ts';
import { providerUrl } from './providers.ts';

const LOCAL_PROVIDERS = ['ollama', 'lmstudio', 'llamacpp', 'vllm'] as const satisfies ProviderName[];
const MAX_ANSWER = 1024 * 1024;
const MOST_MODELS = 100;
/** Any local program may answer, so a name has plain characters only. */
const PLAIN_NAME = /^[\w./:@+-]{1,150}$/;
/** The names of embedding and reranking models. They compute vectors, and cannot answer. */
const NO_CHAT_MODEL = /embed|rerank/i;

export interface LocalModels {
  provider: ProviderName;
  url: string;
  /** The names of the models, without the provider. */
  models: readonly string[];
}

/** Ollama's `GET /api/tags`. */
const tags = z.object({ models: z.array(z.object({ name: z.string() })) });
/** OpenAI's `GET /v1/models`. */
const list = z.object({ data: z.array(z.object({ id: z.string() })) });

/**
 * Asks all programs at the same time.
 * @param limitMs a program that has not answered by then counts as absent
 * @returns the programs that have models
 */
export async function findLocalModels(
  { baseUrls }: Pick<ModelSettings, 'baseUrls'>,
  limitMs: number,
): Promise<LocalModels[]> {
  const signal = AbortSignal.timeout(limitMs);
  const found = await Promise.all(
    LOCAL_PROVIDERS.map(async (provider) => {
      const url = providerUrl(provider, baseUrls[provider], {});
      if (!isLoopbackUrl(url)) return [];
      const models = await modelsAt(provider, url, signal).catch(() => []);
      return models.length === 0 ? [] : [{ provider, url, models }];
    }),
  );
  return found.flat();
}

export function isLoopbackUrl(url: string): boolean {
  return isLoopback(new URL(url).hostname);
}

async function modelsAt(provider: ProviderName, url: string, signal: AbortSignal): Promise<string[]> {
  const answer = await readLocalJson(
    provider === 'ollama' ? new URL('/api/tags', url).href : `${url}/models`,
    signal,
  );
  const names =
    provider === 'ollama'
      ? tags.parse(answer).models.map(({ name }) => name.replace(/:latest$/, ''))
      : list.parse(answer).data.map(({ id }) => id);
  return names.filter((name) => PLAIN_NAME.test(name) && !NO_CHAT_MODEL.test(name)).slice(0, MOST_MODELS);
}

/** @throws Error if the answer is no JSON, or too long */
export async function readLocalJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { signal, redirect: 'error' });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const bytes = await boundedBytes(response.body, MAX_ANSWER, (message) => new Error(message));
  const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes));
  return parsed;
}
