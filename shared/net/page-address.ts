/** Builds the address of the approval page. The fragment names the task and action. A browser sends no fragment to a server. */

export interface PageTarget {
  taskId?: string | undefined;
  /** The id of an action of that task. */
  callId?: string | undefined;
  /** The `shown` code of the action that the person saw. If the action has changed since, the page says so. */
  shown?: string | undefined;
}

/**
 * The plain address, without authority. A browser that is not signed in gets the sign-in instructions.
 * @param base the server's address for clients
 */
export function pageAddress(base: string, { taskId, callId, shown }: PageTarget = {}): string {
  const url = new URL(`${base.replace(/\/+$/, '')}/page`);
  const fragment = new URLSearchParams();
  for (const [name, value] of Object.entries({ task: taskId, call: callId, shown }))
    if (value !== undefined) fragment.set(name, value);
  url.hash = fragment.toString();
  return url.href;
}
