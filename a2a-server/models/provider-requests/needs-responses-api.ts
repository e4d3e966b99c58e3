/**
 * True for OpenAI's reasoning models, which need the Responses API. Only this API keeps their reasoning between turns.
 */
export function needsResponsesApi(model: string): boolean {
  return /^(?:o\d|codex|computer-use|gpt-(?:[5-9]|\d{2}))/.test(model);
}
