/**
 * Reads and writes the page's address. `?code=` signs in once. The fragment `#task=<id>&call=<id>&shown=<code>` names
 * the action.
 */

interface AddressTarget extends OpenedAction {
  taskId: string | undefined;
}

/** The action that a link opens. */
export interface OpenedAction {
  callId: string | undefined;
  /** The `shown` code that the sender of the link saw. */
  shown: string | undefined;
}

/**
 * Returns the sign-in code in the address, if any. Removes it from the address, so that no history or screenshot
 * contains it.
 */
export function takeCode(): string | undefined {
  const address = new URL(location.href);
  const code = address.searchParams.get('code') ?? undefined;
  if (code !== undefined) {
    address.searchParams.delete('code');
    history.replaceState(null, '', address);
  }
  return code;
}

export function addressTarget(): AddressTarget {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = (name: string): string | undefined => fragment.get(name) ?? undefined;
  return { taskId: given('task'), callId: given('call'), shown: given('shown') };
}

/** Shows a task by a change of the address, so that reload and Back work. */
export function showTask(taskId: string): void {
  location.hash = new URLSearchParams({ task: taskId }).toString();
}

/** Calls `act` when the fragment changes. @returns a function that removes the listener */
export function onAddressTarget(act: () => void): () => void {
  window.addEventListener('hashchange', act);
  return () => window.removeEventListener('hashchange', act);
}
