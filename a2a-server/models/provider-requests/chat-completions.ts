/**
 * Loads models of the Chat Completions API. `@ai-sdk/openai-compatible` reads the fields that all servers share. This
 * file reads fields that only some servers send, and adapts the prompt to the fields that a server needs.
 *
 * | field in the answer                                | meaning                                                    |
 * | -------------------------------------------------- | ---------------------------------------------------------- |
 * | `delta.refusal` (OpenAI)                           | the model refuses to answer                                |
 * | `delta.reasoning_details` (OpenRouter)             | reasoning, signatures and encrypted data for later turns   |
 * | `delta.annotations` (OpenRouter)                   | web pages that the answer cites                            |
 * | `prompt_tokens_details.cache_write_tokens`         | input tokens that the provider wrote to its cache          |
 * | (OpenRouter)                                       |                                                            |
 * | `total_tokens` (xAI, Google)                       | includes the reasoning, unlike `completion_tokens`         |
 */
import type { LanguageModelV3, LanguageModelV3Prompt, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { z } from 'zod';
import { lazily } from '../../../shared/runtime/lazily.ts';
import { ReasoningDetailsCollector } from './reasoning-details.ts';
import { separateThinking } from './think-tags.ts';
import { createVersionedFetch, hasApiVersion } from './versioned-url.ts';

/** Adapts a prompt to the fields that a server needs. Pure. */
type PromptAdapter = (prompt: LanguageModelV3Prompt) => LanguageModelV3Prompt;

/** @param adapt if absent, the prompt stays unchanged */
export async function loadChatCompletionsModel(
  name: string,
  model: string,
  { baseURL, apiKey, fetch, adapt }: Endpoint,
): Promise<Pick<LanguageModelV3, 'doStream'>> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  // Without `includeUsage`, the endpoint sends no token counts.
  const loaded = createOpenAICompatible({
    name,
    baseURL,
    includeUsage: true,
    ...(apiKey !== '' && { apiKey }),
    fetch: hasApiVersion(baseURL) ? fetch : createVersionedFetch(baseURL, fetch),
  })(model);
  return {
    doStream: async (options) => {
      const prompt = adapt?.(options.prompt) ?? options.prompt;
      const answer = await loaded.doStream({ ...options, prompt, includeRawChunks: true });
      return { ...answer, stream: answer.stream.pipeThrough(separateThinking()).pipeThrough(otherFields()) };
    },
  };
}

interface Endpoint {
  baseURL: string;
  /** The API key. Empty if the endpoint needs no key. */
  apiKey: string;
  fetch: typeof fetch;
  adapt?: PromptAdapter | undefined;
}

/** Reads further fields from the raw chunks, and adds them to the stream. */
function otherFields(): TransformStream<LanguageModelV3StreamPart, LanguageModelV3StreamPart> {
  const details = new ReasoningDetailsCollector();
  let refused = false;
  let native: string | undefined;
  return new TransformStream({
    transform(part, controller) {
      if (part.type === 'raw') {
        for (const { delta, native_finish_reason } of chunkSchema().parse(part.rawValue).choices) {
          native = native_finish_reason ?? native;
          if (delta?.reasoning_details) details.add(delta.reasoning_details);
          for (const each of delta?.annotations ?? []) controller.enqueue(sourceOf(each));
          refused ||= Boolean(delta?.refusal);
        }
      } else if (part.type === 'finish') {
        for (const each of details.streamParts()) controller.enqueue(each);
        controller.enqueue(finishOf(part, { refused, native }));
      } else controller.enqueue(part);
    },
  });
}

/** The schema of a raw chunk. It is built at its first use, so a server without such a model does not build it. */
const chunkSchema = lazily(() => {
  /** The schema of annotations for web pages. Other annotations, e.g. of files, are dropped. */
  const annotationsSchema = z
    .array(
      z
        .object({ url_citation: z.object({ url: z.string(), title: z.string().nullish() }) })
        .transform(({ url_citation: { url, title } }) => ({ url, title: title ?? '' }))
        .or(z.unknown().transform(() => undefined)),
    )
    .transform((annotations) => annotations.filter((each) => each !== undefined));

  const deltaSchema = z.object({
    // A field of an unknown format counts as absent and is no error, because only some servers add these fields.
    refusal: z.string().nullish().catch(undefined),
    reasoning_details: z.array(z.record(z.string(), z.json())).nullish().catch(undefined),
    annotations: annotationsSchema.nullish().catch(undefined),
  });

  return (
    z
      .object({
        choices: z.array(
          z.object({
            delta: deltaSchema.nullish(),
            native_finish_reason: z.string().nullish().catch(undefined),
          }),
        ),
      })
      // A chunk with an error has no choices.
      .catch({ choices: [] })
  );
});

function sourceOf({ url, title }: { url: string; title: string }): LanguageModelV3StreamPart {
  return { type: 'source', sourceType: 'url', id: url, url, title };
}

const tokens = z.number().nullish().catch(undefined);
const usageSchema = z
  .object({
    prompt_tokens: tokens,
    total_tokens: tokens,
    prompt_tokens_details: z.object({ cache_write_tokens: tokens }).nullish().catch(undefined),
  })
  .catch({});

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;

function finishOf(part: Finish, seen: { refused: boolean; native: string | undefined }): Finish {
  const { inputTokens, outputTokens } = part.usage;
  const { prompt_tokens, total_tokens, prompt_tokens_details } = usageSchema.parse(part.usage.raw);
  const cacheWrite = prompt_tokens_details?.cache_write_tokens ?? undefined;
  const notInput = total_tokens && prompt_tokens ? total_tokens - prompt_tokens : 0;
  const usage = {
    ...part.usage,
    inputTokens: { ...inputTokens, cacheWrite },
    outputTokens: { ...outputTokens, total: Math.max(outputTokens.total ?? 0, notInput) },
  };
  return { ...part, usage, finishReason: reasonOf(part, seen) };
}

/**
 * The finish reasons of an interrupted answer. DeepSeek sends `insufficient_system_resource` if it has too little
 * capacity. vLLM sends `abort`. A retry may succeed.
 */
const INTERRUPTIONS = new Set(['insufficient_system_resource', 'abort']);

function reasonOf(
  { finishReason }: Finish,
  { refused, native }: { refused: boolean; native: string | undefined },
): Finish['finishReason'] {
  const { raw = '' } = finishReason;
  // OpenAI ends a refusal with the reason `stop`, and sends its text as `refusal` instead of `content`.
  if (refused) return { unified: 'content-filter', raw: 'refusal' };
  // OpenRouter sends `error` for an answer that failed and may be incomplete, e.g. after Gemini's
  // `MALFORMED_FUNCTION_CALL`.
  if (raw === 'error') return { unified: 'error', raw: native ?? raw };
  return INTERRUPTIONS.has(raw) ? { unified: 'other', raw: undefined } : finishReason;
}
