/** The page's address: `?code=` signs in once, and the fragment names what is shown: `#task=<id>&call=<id>&shown=<code>`. */

export interface Target extends OpenedAction {
  taskId: string | undefined;
}

/** The action that a link opens. */
export interface OpenedAction {
  callId: string | undefined;
  /** The code of what the sender of the link was shown. */
  shown: string | undefined;
}

/** Takes the sign-in code out of the address, so that no history and no screenshot holds it. */
export function takeCode(): string | undefined {
  const address = new URL(location.href);
  const code = address.searchParams.get('code') ?? undefined;
  if (code !== undefined) {
    address.searchParams.delete('code');
    history.replaceState(null, '', address);
  }
  return code;
}

export function target(): Target {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = (name: string): string | undefined => fragment.get(name) ?? undefined;
  return { taskId: given('task'), callId: given('call'), shown: given('shown') };
}

/** Shows this task. The address says so: a reload shows the same, and the browser's Back button works. */
export function show(taskId: string): void {
  location.hash = new URLSearchParams({ task: taskId }).toString();
}

/** Calls `act` when the fragment changes. @returns how to call that off */
export function onTarget(act: () => void): () => void {
  window.addEventListener('hashchange', act);
  return () => window.removeEventListener('hashchange', act);
}
