/**
 * Reads the context window with which a local program has loaded a model. It is often smaller than the window of the
 * model, and some programs cut off longer prompts without an error.
 */
import { z } from 'zod';
import { readLocalJson } from './local-models.ts';
import type { ProviderName } from './model-settings.ts';

const LIMIT_MS = 1_000;
const tokens = z.number().int().positive();

interface Source {
  /** Returns the address to read, relative to the URL of the provider's API, which ends in `/v1`. */
  path: (model: string) => string;
  /** @throws Error if the answer does not contain the window */
  read: (answer: unknown, model: string) => number | undefined;
}

/** Ollama, `GET /api/ps`: the loaded models. */
const ollama = z.object({
  models: z.array(z.object({ name: z.string(), context_length: tokens.optional() })),
});
/** LM Studio, `GET /api/v0/models/{model}`. */
const lmstudio = z.object({ loaded_context_length: tokens.optional() });
/** llama.cpp, `GET /props`. */
const llamacpp = z.object({ default_generation_settings: z.object({ n_ctx: tokens }) });
/** vLLM, `GET /v1/models`. */
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
 * Returns the context window. Call this after the model has answered, because then the program has loaded the model.
 * @param url of the provider's API
 * @returns the window in tokens; undefined if the program does not report it
 */
export async function servedWindow(
  { provider, model }: { provider: ProviderName; model: string },
  url: string,
): Promise<number | undefined> {
  const source = SOURCES[provider];
  if (source === undefined) return undefined;
  try {
    const address = new URL(source.path(model), `${url}/`).href;
    return source.read(await readLocalJson(address, AbortSignal.timeout(LIMIT_MS)), model);
  } catch {
    return undefined;
  }
}
