/**
 * Stores the newest output of tool executions in the snapshot. The journal has the complete output. Pure.
 */
import type { TaskEvent } from './events.ts';

export interface ToolExecutionOutput {
  toolId: string;
  tool: string;
  title: string;
  text: string;
}

/** The limit for all tool executions of a task together, in characters. Their output then fits into one response. */
export const MAX_TASK_OUTPUT_CHARS = 2_000_000;

/**
 * Adds output. Tool executions are sorted by the time of their first output. Above the limit, the oldest are dropped.
 */
export function withToolOutput(
  outputs: readonly ToolExecutionOutput[],
  { toolId, tool, title, text }: Extract<TaskEvent, { type: 'tool.output' }>,
): readonly ToolExecutionOutput[] {
  const at = outputs.findLastIndex((output) => output.toolId === toolId);
  const before = outputs[at];
  const after =
    before === undefined
      ? [...outputs, { toolId, tool, title, text }]
      : outputs.with(at, { ...before, text: before.text + text });
  let held = after.reduce((sum, output) => sum + output.text.length, 0);
  let gone = 0;
  while (held > MAX_TASK_OUTPUT_CHARS && gone < after.length - 1) {
    held -= after[gone]?.text.length ?? 0;
    gone += 1;
  }
  return gone === 0 ? after : after.slice(gone);
}

/** The maximum length of a progress line, in characters. */
const MAX_PROGRESS_CHARS = 300;

/** Returns the last line with text, as the progress of a tool. Null if there is none. */
export function lastLineOf(output: string): string | null {
  const lines = output.split('\n').map((line) => line.trim());
  return lines.findLast((line) => line !== '')?.slice(-MAX_PROGRESS_CHARS) ?? null;
}
