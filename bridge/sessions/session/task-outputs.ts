/** Limits the number and the length of an agent's outputs. Pure. */
import type { ObservedArtifact } from '../../dialects/observation.ts';

const MAX_OUTPUTS = 1000;
/** The maximum length of all outputs of a task together, in characters. */
const MAX_OUTPUT_CHARACTERS = 16 * 1024 * 1024;
/**
 * The number of characters that are kept if the outputs exceed the limit. Each cut copies the whole text. So this
 * number is below the limit: an endless text is cut once per mebibyte, and not with each event.
 */
const KEPT_CHARACTERS = 15 * 1024 * 1024;

export function mergeAgentOutput(
  outputs: readonly ObservedArtifact[],
  output: ObservedArtifact,
  append: boolean,
): readonly ObservedArtifact[] {
  const at = outputs.findIndex((each) => each.id === output.id);
  const before = outputs[at];
  if (before === undefined) return newestOutputs([...outputs, output]);
  const merged = append ? { ...before, text: before.text + output.text } : output;
  return newestOutputs(outputs.map((each, index) => (index === at ? merged : each)));
}

/** If there are too many characters, keeps the newest, because the result of a long answer is at its end. */
export function newestOutputs(all: readonly ObservedArtifact[]): readonly ObservedArtifact[] {
  const outputs = all.length > MAX_OUTPUTS ? all.slice(-MAX_OUTPUTS) : all;
  let total = 0;
  for (const output of outputs) total += output.text.length;
  if (total <= MAX_OUTPUT_CHARACTERS) return outputs;
  let left = KEPT_CHARACTERS;
  const kept: ObservedArtifact[] = [];
  for (const output of outputs.toReversed()) {
    if (left === 0) break;
    const text = output.text.slice(-left);
    left -= text.length;
    kept.unshift({ ...output, text });
  }
  return kept;
}
