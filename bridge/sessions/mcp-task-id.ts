/**
 * Builds and parses the ids of MCP tasks. Such an id consists of the session id and the task id, so every bridge can
 * parse it after a restart (B3). Tools accept it as a `sessionId`. Pure.
 *
 * The id is as hard to guess as the agent's own ids. It is valid in an HTTP header (`Mcp-Name`).
 */
interface TaskHandle {
  sessionId: string;
  /** '' until the agent names the task. */
  taskId: string;
}

const HANDLE = /^([A-Za-z0-9\-_.!~*'()%]+)::([A-Za-z0-9\-_.!~*'()%]*)$/;

export function handleOf({ sessionId, taskId }: TaskHandle): string {
  return `${encodeURIComponent(sessionId)}::${encodeURIComponent(taskId)}`;
}

/**
 * Parses an MCP task id.
 * @returns undefined for text that `handleOf` did not produce
 */
export function readHandle(text: string): TaskHandle | undefined {
  const [, sessionId, taskId] = HANDLE.exec(text) ?? [];
  if (sessionId === undefined || taskId === undefined) return undefined;
  try {
    return { sessionId: decodeURIComponent(sessionId), taskId: decodeURIComponent(taskId) };
  } catch {
    return undefined;
  }
}
