/**
 * Finds programs on this machine that serve models: Ollama, LM Studio, llama.cpp and vLLM. Each program has a usual
 * port, and the settings can give another. Requests go only to loopback addresses and contain no key.
 */
import { z } from 'zod';
import { readBoundedBytes } from '../../shared/net/bounded-body.ts';
import { isLoopback } from '../../shared/net/loopback.ts';
import type { ModelSettings, ProviderName } from './model-settings.ts';
import { providerUrl } from './providers.ts';

const LOCAL_PROVIDERS = ['ollama', 'lmstudio', 'llamacpp', 'vllm'] as const satisfies ProviderName[];
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_MODELS = 100;
/** The form of an accepted model name. Any local program may answer, so other names are dropped. */
const PLAIN_NAME = /^[\w./:@+-]{1,150}$/;
/** Matches embedding and reranking models. Such models compute vectors and cannot chat. */
const NO_CHAT_MODEL = /embed|rerank/i;

interface LocalModels {
  provider: ProviderName;
  url: string;
  models: readonly string[];
}

/** The schema of Ollama's answer to `GET /api/tags`. */
const tags = z.object({ models: z.array(z.object({ name: z.string() })) });
/** The schema of the answer to OpenAI's `GET /v1/models`. */
const list = z.object({ data: z.array(z.object({ id: z.string() })) });

/**
 * The time limit of one answer, in milliseconds. A program that runs a model answers slowly on a busy machine. A port
 * without a program refuses at once, so the limit delays the list only if a program is slow or hangs.
 */
export const LOCAL_ANSWER_LIMIT_MS = 5_000;

/**
 * Sends requests to all programs at the same time. Returns the programs that have models.
 * @param signal when it aborts, a program without an answer is treated as absent
 */
export async function findLocalModels(
  { baseUrls }: Pick<ModelSettings, 'baseUrls'>,
  signal = AbortSignal.timeout(LOCAL_ANSWER_LIMIT_MS),
): Promise<LocalModels[]> {
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
  const answer = await fetchLocalJson(
    provider === 'ollama' ? new URL('/api/tags', url).href : `${url}/models`,
    signal,
  );
  const names =
    provider === 'ollama'
      ? tags.parse(answer).models.map(({ name }) => name.replace(/:latest$/, ''))
      : list.parse(answer).data.map(({ id }) => id);
  return names.filter((name) => PLAIN_NAME.test(name) && !NO_CHAT_MODEL.test(name)).slice(0, MAX_MODELS);
}

/**
 * Sends a GET request to a program on this machine, and returns its JSON.
 * @throws Error if the answer is not JSON or is too long
 */
export async function fetchLocalJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { signal, redirect: 'error' });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const bytes = await readBoundedBytes(response.body, MAX_ANSWER_BYTES);
  const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes));
  return parsed;
}
