/**
 * Adds signatures that Gemini needs. Gemini 3 and later refuse (400) a turn whose first tool call has no signature. A
 * turn of another model has no signature, and a summary removes signatures. For such turns, Google documents a value
 * that Gemini accepts.
 *
 * Source: https://ai.google.dev/gemini-api/docs/thought-signatures
 */
import type { LanguageModelV3Prompt } from '@ai-sdk/provider';

/**
 * The value that Gemini accepts instead of a signature. Google documents two such "dummy signatures": this value and
 * `context_engineering_is_the_way_to_go`. Vertex AI accepts only this value.
 */
export const SKIPPED_SIGNATURE = 'skip_thought_signature_validator';

/**
 * Returns true if Gemini refuses a replayed tool call of this model that has no thought signature.
 * @param model the model's name in requests, e.g. `gemini-3-flash-preview`, `google/gemini-3-pro`
 */
export function needsThoughtSignatures(model: string): boolean {
  return /(?:^|\/)gemini-(?:[3-9]|\d{2}|(?:pro|flash|flash-lite)-latest)/.test(model);
}

/**
 * Signs the first tool call of each turn that has no signature. This is for Google's endpoint with the OpenAI API,
 * which reads `extra_content.google.thought_signature` of a call. `@ai-sdk/google` does the same for Google's own API.
 */
export function withThoughtSignatures(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  return prompt.map((message) => {
    if (message.role !== 'assistant') return message;
    const first = message.content.findIndex(({ type }) => type === 'tool-call');
    const signed = message.content.some(
      ({ type, providerOptions }) =>
        type === 'tool-call' && providerOptions?.['google']?.['thoughtSignature'],
    );
    if (first === -1 || signed) return message;
    const google = { thoughtSignature: SKIPPED_SIGNATURE };
    const content = message.content.map((part, index) =>
      index === first ? { ...part, providerOptions: { ...part.providerOptions, google } } : part,
    );
    return { ...message, content };
  });
}
