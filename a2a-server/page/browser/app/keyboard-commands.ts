/** Maps keys to commands of the page. Pure. */

export const KEYBOARD_COMMANDS = [
  { key: 'j', command: 'next', text: 'Select the next action' },
  { key: 'k', command: 'previous', text: 'Select the previous action' },
  { key: 'a', command: 'approve', text: 'Approve the selected action, or go to the answer of a question' },
  { key: 'd', command: 'deny', text: 'Write a reason for a denial. Enter sends the denial' },
  { key: 'e', command: 'edit', text: 'Edit the selected action' },
  { key: '/', command: 'search', text: 'Search the tasks' },
  { key: '?', command: 'help', text: 'Show these keys' },
] as const;
export type KeyboardCommand = (typeof KEYBOARD_COMMANDS)[number]['command'];

/** The fields of a `KeyboardEvent` that determine the command. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  repeat: boolean;
  isComposing: boolean;
  defaultPrevented: boolean;
}

/**
 * Returns the command of a key. Returns undefined if the key belongs to a field, to the browser, or to no command.
 * Shift is allowed only with `?` and `/`, because many keyboards need Shift for these signs. A key that is held down
 * can only move the selection.
 */
export function keyboardCommandOf(press: KeyPress, inField: boolean): KeyboardCommand | undefined {
  const { key, ctrlKey, altKey, metaKey, shiftKey, repeat, isComposing, defaultPrevented } = press;
  if (inField || ctrlKey || altKey || metaKey || isComposing || defaultPrevented) return undefined;
  if (shiftKey && key !== '?' && key !== '/') return undefined;
  const command = KEYBOARD_COMMANDS.find((each) => each.key === key.toLowerCase())?.command;
  return repeat && command !== 'next' && command !== 'previous' ? undefined : command;
}
