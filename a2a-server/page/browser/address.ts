/**
 * Reads and changes the page's address. The fragment `#task=<id>&call=<id>&shown=<code>` selects a task and, in a link,
 * one of its actions. The filters of the task list are further parameters of the fragment. `#code=` signs in once, and
 * `#passkey=` registers a passkey once. Browsers send no fragment to a server or proxy.
 */
import { filterParameters, filtersFromFragment, type PageTaskFilters } from './task-filters.ts';

interface AddressTarget extends LinkedAction {
  taskId: string | undefined;
}

export interface LinkedAction {
  callId: string | undefined;
  shown: string | undefined;
}

/**
 * Returns the code that signs in or registers a passkey, if the address has one. Removes it from the address, so that no
 * history entry or screenshot contains it.
 */
export function takeSecret(name: 'code' | 'passkey'): string | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const secret = fragment.get(name) ?? undefined;
  if (secret !== undefined) {
    fragment.delete(name);
    const address = new URL(location.href);
    address.hash = fragment.toString();
    history.replaceState(null, '', address);
  }
  return secret;
}

export function readAddressTarget(): AddressTarget {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = (name: string): string | undefined => fragment.get(name) ?? undefined;
  return { taskId: given('task'), callId: given('call'), shown: given('shown') };
}

/** Shows a task by a change of the address, so that reload and Back work. */
export function openTask(taskId: string): void {
  location.hash = taskFragment(taskId);
}

/**
 * Opens a new task if the page still shows the task `before`. If the person has chosen another task since, that one
 * stays.
 */
export function openCreatedTask(taskId: string, before: string | undefined): void {
  if (readAddressTarget().taskId === before) openTask(taskId);
}

/** Returns the fragment that shows this task, or no task, and keeps the filters. */
export function taskFragment(taskId?: string): string {
  const task = taskId === undefined ? [] : [['task', taskId]];
  return `#${new URLSearchParams([...task, ...filterParameters(readAddressFilters())]).toString()}`;
}

export function readAddressFilters(): PageTaskFilters {
  return filtersFromFragment(new URLSearchParams(location.hash.slice(1)));
}

/** Changes the filters without a new entry in the history, because each typed letter changes them. */
export function setAddressFilters(filters: PageTaskFilters): void {
  const { taskId, callId, shown } = readAddressTarget();
  const target = Object.entries({ task: taskId, call: callId, shown }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  replaceFragment(`#${new URLSearchParams([...target, ...filterParameters(filters)]).toString()}`);
}

/** `replaceState` sends no `hashchange` event, so this function sends one. */
export function replaceFragment(fragment: string): void {
  history.replaceState(null, '', fragment);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Calls `act` when the fragment changes. Returns a function that removes the listener. */
export function onAddressChange(act: () => void): () => void {
  window.addEventListener('hashchange', act);
  return () => window.removeEventListener('hashchange', act);
}
