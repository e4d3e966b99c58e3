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
