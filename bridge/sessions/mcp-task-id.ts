/**
 * Builds and parses the ids of MCP tasks. Such an id consists of the session id and the task id. B3: a killed bridge
 * loses nothing. So every bridge can parse the id, even after a restart. Tools accept it as a `sessionId`. Pure.
 *
 * The id is as hard to guess as the agent's own ids. It is valid in an HTTP header (`Mcp-Name`).
 */
interface TaskHandle {
  sessionId: string;
  /** The id of the A2A task. '' before the agent has sent it. */
  taskId: string;
}

const MCP_TASK_ID = /^([A-Za-z0-9\-_.!~*'()%]+)::([A-Za-z0-9\-_.!~*'()%]*)$/;

export function encodeTaskHandle({ sessionId, taskId }: TaskHandle): string {
  return `${encodeURIComponent(sessionId)}::${encodeURIComponent(taskId)}`;
}

/** Parses an MCP task id. Returns undefined for a text that `encodeTaskHandle` has not built. */
export function decodeTaskHandle(text: string): TaskHandle | undefined {
  const [, sessionId, taskId] = MCP_TASK_ID.exec(text) ?? [];
  if (sessionId === undefined || taskId === undefined) return undefined;
  try {
    return { sessionId: decodeURIComponent(sessionId), taskId: decodeURIComponent(taskId) };
  } catch {
    return undefined;
  }
}
