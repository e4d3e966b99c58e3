/**
 * Builds and parses the resource URI of a part of a task: `task://<agent>/<session>/<task>/<part>`. With
 * `…/<part>/<from>`, the first characters are skipped. The URI names the agent, because agents choose ids, and two
 * agents may use the same id. Pure.
 */

/**
 * The parts of a task that a client can read.
 * - `state`: the state of the task as JSON.
 * - `transcript`: the messages and tool calls, oldest first.
 * - `artifacts`: all outputs of the task.
 * - `diff`: what the pending actions would change.
 */
export const TASK_RESOURCES = ['state', 'transcript', 'artifacts', 'diff'] as const;
export type TaskResource = (typeof TASK_RESOURCES)[number];

export const TASK_RESOURCE_MIME_TYPES: Readonly<Record<TaskResource, string>> = {
  state: 'application/json',
  transcript: 'text/markdown',
  artifacts: 'text/plain',
  diff: 'text/x-diff',
};

export interface TaskAddress {
  /** The name of the agent. */
  agent: string;
  sessionId: string;
  taskId: string;
  part: TaskResource;
}

export const TASK_URI_TEMPLATE = 'task://{agent}/{session}/{task}/{part}';
export const TASK_URI_TEMPLATE_WITH_OFFSET = `${TASK_URI_TEMPLATE}/{from}`;

/**
 * Builds the URI. The ids are escaped, because agents choose them, and they may contain any character.
 * @param from the number of characters to skip
 */
export function taskUri({ agent, sessionId, taskId, part }: TaskAddress, from = 0): string {
  const uri = `task://${segmentOf(agent)}/${segmentOf(sessionId)}/${segmentOf(taskId)}/${part}`;
  return from === 0 ? uri : `${uri}/${String(from)}`;
}

/** Reads the variables of a URI that matches the template. Returns undefined if they name no part of a task. */
export function parseTaskUriVariables(
  variables: Readonly<Record<string, string | string[] | undefined>>,
): (TaskAddress & { from: number }) | undefined {
  const { agent, session, task, part, from = '0' } = variables;
  const known = TASK_RESOURCES.find((each) => each === part);
  if (typeof agent !== 'string' || typeof session !== 'string' || typeof task !== 'string') return undefined;
  if (known === undefined) return undefined;
  if (typeof from !== 'string' || !/^\d{1,9}$/.test(from)) return undefined;
  try {
    return {
      agent: idOf(agent),
      sessionId: idOf(session),
      taskId: idOf(task),
      part: known,
      from: Number(from),
    };
  } catch {
    return undefined; // The URI has an invalid percent escape.
  }
}

/**
 * Escapes an id for the URI. In a URL, `.` and `..` change the path, even if they are escaped (WHATWG URL §4.4). So
 * such an id gets a tilde as prefix.
 */
function segmentOf(id: string): string {
  return encodeURIComponent(/^~*\.{1,2}$/.test(id) ? `~${id}` : id);
}

function idOf(segment: string): string {
  return decodeURIComponent(segment).replace(/^~(~*\.{1,2})$/, '$1');
}
