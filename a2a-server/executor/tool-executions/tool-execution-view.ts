import type { ToolExecutionReference } from '../../task/events.ts';

/** A running tool execution, for clients. */
export interface ToolExecutionView extends ToolExecutionReference {
  taskId: string;
  sessionId: string;
  startedAt: number;
  ageMs: number;
  /** The last line of the tool's output. Null if there is no output yet. */
  progress: string | null;
}

/** Returns the view of a running tool execution. @param now milliseconds since 1970 */
export function toolExecutionView(
  execution: Omit<ToolExecutionView, 'ageMs'>,
  now: number,
): ToolExecutionView {
  const { toolId, tool, title, taskId, sessionId, callId, startedAt, progress } = execution;
  return { toolId, tool, title, taskId, sessionId, callId, startedAt, ageMs: now - startedAt, progress };
}
