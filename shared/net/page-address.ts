/**
 * Builds a URL of the approval page. The fragment of the URL names the task and the action, because browsers send no
 * fragment to a server.
 */

export interface PageTarget {
  taskId?: string | undefined;
  callId?: string | undefined;
  /** The code of the action that the person saw. If the action has changed since then, the page shows a warning. */
  shown?: string | undefined;
}

/**
 * Returns a URL of the approval page. Without `code`, the URL contains no credentials. A browser that is not signed in
 * then shows how to sign in.
 * @param base the server's URL for clients
 * @param target `code` signs a browser in once. The code is in the fragment, so no server, proxy log or `Referer`
 * header contains it.
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
