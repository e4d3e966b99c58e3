/** OpenAI's reasoning models keep their reasoning between turns only with the Responses API, and some have no other API. */
export function needsResponses(model: string): boolean {
  return /^(?:o\d|codex|computer-use|gpt-(?:[5-9]|\d{2}))/.test(model);
}
