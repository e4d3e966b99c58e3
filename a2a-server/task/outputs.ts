/**
 * What tool executions have put out, as far as a snapshot holds it: the newest of it. All of it is in the journal. Pure.
 */
import type { TaskEvent } from './events.ts';

export interface ExecutionOutput {
  toolId: string;
  tool: string;
  title: string;
  text: string;
}

/** Characters, over all executions of a task: a task that runs a hundred builds still fits into an answer. */
export const MAX_HELD = 2_000_000;

/** The one that has last begun to put something out comes last; where there is too much, the oldest are let go whole. */
export function withOutput(
  outputs: readonly ExecutionOutput[],
  { toolId, tool, title, text }: Extract<TaskEvent, { type: 'tool.output' }>,
): readonly ExecutionOutput[] {
  const at = outputs.findLastIndex((output) => output.toolId === toolId);
  const before = outputs[at];
  const after =
    before === undefined
      ? [...outputs, { toolId, tool, title, text }]
      : outputs.with(at, { ...before, text: before.text + text });
  let held = after.reduce((sum, output) => sum + output.text.length, 0);
  let gone = 0;
  while (held > MAX_HELD && gone < after.length - 1) {
    held -= after[gone]?.text.length ?? 0;
    gone += 1;
  }
  return gone === 0 ? after : after.slice(gone);
}
