/**
 * The id of an MCP task: made from the session and its task alone, so that every bridge, now or after a restart, reads the
 * same in it (B3). The tools take it wherever they take a sessionId. Pure.
 *
 * It is as hard to guess as the agent's own ids are, and fits a header (`Mcp-Name`) as it is.
 */
export interface TaskHandle {
  sessionId: string;
  /** '' while the agent has not named the task. */
  taskId: string;
}

const HANDLE = /^([A-Za-z0-9\-_.!~*'()%]+)::([A-Za-z0-9\-_.!~*'()%]*)$/;

export function handleOf({ sessionId, taskId }: TaskHandle): string {
  return `${encodeURIComponent(sessionId)}::${encodeURIComponent(taskId)}`;
}

/** @returns undefined for what was not made by `handleOf` */
export function readHandle(text: string): TaskHandle | undefined {
  const [, sessionId, taskId] = HANDLE.exec(text) ?? [];
  if (sessionId === undefined || taskId === undefined) return undefined;
  try {
    return { sessionId: decodeURIComponent(sessionId), taskId: decodeURIComponent(taskId) };
  } catch {
    return undefined;
  }
}
