/**
 * Builds the URL of the approval page. The fragment names the task and the action. Browsers never send a fragment to a
 * server.
 */

export interface PageTarget {
  taskId?: string | undefined;
  callId?: string | undefined;
  /**
   * The `shown` code of the action that the person saw. If the action has changed since then, the page shows a warning.
   */
  shown?: string | undefined;
}

/**
 * Returns a URL. Without `code` it has no credentials: a browser that is not signed in gets the sign-in instructions.
 * @param base the server's URL for clients
 * @param target `code` signs a browser in once. The fragment has it, so no server, proxy log or `Referer` sees it.
 */
export function pageAddress(
  base: string,
  { code, taskId, callId, shown }: PageTarget & { code?: string } = {},
): string {
  const url = new URL(`${base.replace(/\/+$/, '')}/page`);
  const fragment = new URLSearchParams();
  for (const [name, value] of Object.entries({ code, task: taskId, call: callId, shown }))
    if (value !== undefined) fragment.set(name, value);
  url.hash = fragment.toString();
  return url.href;
}
