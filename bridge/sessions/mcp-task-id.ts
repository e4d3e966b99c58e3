/**
 * Builds and parses the ids of MCP tasks. Such an id consists of the session id, the task id and the agent's name. The
 * name is necessary, because agents choose ids, and two agents may use the same id. B3: a killed bridge loses nothing.
 * So every bridge can parse the id, even after a restart. Tools accept it as a `sessionId`. Pure.
 *
 * The id is as hard to guess as the agent's own ids. It is valid in an HTTP header (`Mcp-Name`).
 */
interface McpTaskIdParts {
  sessionId: string;
  /** The id of the A2A task. '' before the agent has sent it. */
  taskId: string;
  /** The name of the agent. Undefined in an id that an earlier version of the bridge built. */
  agent?: string | undefined;
}

const MCP_TASK_ID = /^([A-Za-z0-9\-_.!~*'()%]+)::([A-Za-z0-9\-_.!~*'()%]*)(?:::([A-Za-z0-9._-]+))?$/;

export function encodeMcpTaskId({ sessionId, taskId, agent }: McpTaskIdParts & { agent: string }): string {
  return `${encodeURIComponent(sessionId)}::${encodeURIComponent(taskId)}::${agent}`;
}

/** Parses an MCP task id. Returns undefined for a text that `encodeMcpTaskId` has not built. */
export function decodeMcpTaskId(text: string): McpTaskIdParts | undefined {
  const [, sessionId, taskId, agent] = MCP_TASK_ID.exec(text) ?? [];
  if (sessionId === undefined || taskId === undefined) return undefined;
  try {
    return { sessionId: decodeURIComponent(sessionId), taskId: decodeURIComponent(taskId), agent };
  } catch {
    return undefined;
  }
}
