/** A running tool execution, for clients. */
export interface ToolExecutionView {
  toolId: string;
  tool: string;
  title: string;
  taskId: string;
  sessionId: string;
  callId: string;
  startedAt: number;
  ageMs: number;
  /** The last line of the tool's output. Null if there is no output yet. */
  progress: string | null;
}
