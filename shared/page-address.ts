/** The address of the approval page. Its fragment names what the page opens; a browser sends the fragment to no server. */

export interface PageTarget {
  taskId?: string | undefined;
  /** An action of that task. */
  callId?: string | undefined;
  /** The code of what the person was shown of the action: the page says when that has changed. */
  shown?: string | undefined;
}

/**
 * The plain address, without authority: a browser that is not signed in says how to sign in.
 * @param base where clients reach the server
 */
export function pageAddress(base: string, { taskId, callId, shown }: PageTarget = {}): string {
  const url = new URL(`${base.replace(/\/+$/, '')}/page`);
  const fragment = new URLSearchParams();
  for (const [name, value] of Object.entries({ task: taskId, call: callId, shown }))
    if (value !== undefined) fragment.set(name, value);
  url.hash = fragment.toString();
  return url.href;
}
