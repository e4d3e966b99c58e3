/**
 * Reads the context window that a local program uses for a loaded model. This window is often smaller than the model's
 * maximum. Some programs cut longer prompts without an error.
 */
import { z } from 'zod';
import { fetchLocalJson, LOCAL_ANSWER_LIMIT_MS } from './local-models.ts';
import type { ProviderName } from './model-settings.ts';

const tokens = z.number().int().positive();

interface Source {
  /** Returns a URL relative to the provider's API. The URL of the API ends in `/v1`. */
  path: (model: string) => string;
  /** @throws Error if the answer has another format */
  read: (answer: unknown, model: string) => number | undefined;
}

/** The schema of Ollama's answer to `GET /api/ps`, which lists the loaded models. */
const ollama = z.object({
  models: z.array(z.object({ name: z.string(), context_length: tokens.optional() })),
});
/** The schema of LM Studio's answer to `GET /api/v0/models/{model}`. */
const lmstudio = z.object({ loaded_context_length: tokens.optional() });
/** The schema of llama.cpp's answer to `GET /props`. */
const llamacpp = z.object({ default_generation_settings: z.object({ n_ctx: tokens }) });
/** The schema of vLLM's answer to `GET /v1/models`. */
const vllm = z.object({ data: z.array(z.object({ id: z.string(), max_model_len: tokens.optional() })) });

const SOURCES: Partial<Readonly<Record<ProviderName, Source>>> = {
  ollama: {
    path: () => '../api/ps',
    read: (answer, model) =>
      ollama.parse(answer).models.find(({ name }) => name === model || name === `${model}:latest`)
        ?.context_length,
  },
  lmstudio: {
    path: (model) => `../api/v0/models/${model.split('/').map(encodeURIComponent).join('/')}`,
    read: (answer) => lmstudio.parse(answer).loaded_context_length,
  },
  llamacpp: {
    path: () => '../props',
    read: (answer) => llamacpp.parse(answer).default_generation_settings.n_ctx,
  },
  vllm: {
    path: () => 'models',
    read: (answer, model) => vllm.parse(answer).data.find(({ id }) => id === model)?.max_model_len,
  },
};

/**
 * Returns the context window in tokens, or undefined if the program does not report it. Call this after an answer of
 * the model, because the program has loaded the model by then.
 * @param url the URL of the provider's API
 */
export async function readServedContextWindow(
  { provider, model }: { provider: ProviderName; model: string },
  url: string,
): Promise<number | undefined> {
  const source = SOURCES[provider];
  if (source === undefined) return undefined;
  try {
    const address = new URL(source.path(model), `${url}/`).href;
    return source.read(await fetchLocalJson(address, AbortSignal.timeout(LOCAL_ANSWER_LIMIT_MS)), model);
  } catch {
    return undefined;
  }
}
