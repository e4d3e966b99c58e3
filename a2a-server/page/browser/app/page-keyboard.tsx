/**
 * Handles the keys of the page. A key clicks a button or focuses a field, so each rule for clicks also applies to keys
 * (click-guard.ts). The focus selects the action.
 */
import { useEffect, useRef } from 'preact/hooks';
import { keyboardCommandOf, KEYBOARD_COMMANDS, type KeyboardCommand } from './keyboard-commands.ts';

/** Selects the actions that wait. Only these have `data-seen` (action-view.tsx). */
const WAITING_ACTIONS = 'section.action[data-seen]';
const FIELDS = 'input, textarea, select, [contenteditable]';

/** Shows the button that opens the list of keys, and handles the keys of the whole page. */
export function PageKeyboard() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    /** The field in which the person writes. It may have disappeared. */
    let written: HTMLElement | undefined;
    const leave = (): void => {
      written = undefined;
    };
    const enter = ({ target }: FocusEvent): void => {
      if (isField(target)) written = target;
      // If the field has disappeared, the page has moved the focus, and not the person. Then `written` stays, so that
      // the next letters do not act as commands.
      else if (written?.isConnected === true) leave();
    };
    const handle = (event: KeyboardEvent): void => {
      const { target } = event;
      const field = isField(target);
      if (field) written = target;
      if (leavesField(event)) leave();
      if (field && event.key === 'Escape') leaveField(target);
      // Another channel may have decided the action while the person writes. Then the page has removed the field, and the
      // next letters still belong to the text. They must not act as commands.
      if (written?.isConnected === false) return;
      // In a dialog, the keys do nothing. The browser closes the dialog on Escape.
      if (document.querySelector('dialog[open]') !== null) return;
      const command = keyboardCommandOf(event, field);
      if (command === undefined) return;
      event.preventDefault();
      if (command === 'help') dialog.current?.showModal();
      else runKeyboardCommand(command);
    };
    document.addEventListener('keydown', handle);
    document.addEventListener('focusin', enter);
    document.addEventListener('pointerdown', leave);
    return () => {
      document.removeEventListener('keydown', handle);
      document.removeEventListener('focusin', enter);
      document.removeEventListener('pointerdown', leave);
    };
  }, []);
  return (
    <>
      <button class="keys" aria-keyshortcuts="?" onClick={() => dialog.current?.showModal()}>
        Keys
      </button>
      <dialog ref={dialog} aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl class="keys">
          {KEYBOARD_COMMANDS.map(({ key, text }) => (
            <div key={key}>
              <dt>
                <kbd>{key.toUpperCase()}</kbd>
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        <p class="quiet">
          If no action is selected, A, D and E select one. Escape leaves a field. Keys decide only an action
          that was on the screen.
        </p>
        <button class="main" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </dialog>
    </>
  );
}

function isField(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.matches(FIELDS);
}

/**
 * Moves the focus from a field to the waiting action that contains the field. If there is none, only removes the focus.
 */
function leaveField(field: HTMLElement): void {
  const action = field.closest(WAITING_ACTIONS);
  if (action === null) field.blur();
  else focusAction(action);
}

/** Returns true if the person leaves a field with this key. Enter sends a field of one line. */
function leavesField({ key, target }: KeyboardEvent): boolean {
  return key === 'Escape' || key === 'Tab' || (key === 'Enter' && target instanceof HTMLInputElement);
}

function runKeyboardCommand(command: Exclude<KeyboardCommand, 'help'>): void {
  const actions = [...document.querySelectorAll<HTMLElement>(WAITING_ACTIONS)];
  const focus = document.activeElement ?? document.body;
  const selected = actions.find((each) => each.contains(focus));
  switch (command) {
    // The focus may also be on a decided action, which is not in `actions`. So the place of the focus in the document
    // decides.
    case 'next':
      return focusAction(nextAction(actions, focus));
    case 'previous':
      return focusAction(
        actions.findLast((each) => each !== selected && isAfter(focus, each)) ?? selected ?? actions.at(-1),
      );
    case 'search':
      return document.querySelector<HTMLInputElement>('input[type="search"]')?.focus();
    case 'approve':
    case 'deny':
    case 'edit':
      // D2: the first press selects an action, so that the person sees which one the second press decides.
      if (selected === undefined) return focusAction(nextAction(actions, focus));
      return activateControl(selected, command.charAt(0));
  }
}

/** Returns the first action after the focus. If no action follows, returns the last action of the page. */
function nextAction(actions: readonly HTMLElement[], focus: Element): HTMLElement | undefined {
  return actions.find((each) => isAfter(each, focus)) ?? actions.at(-1);
}

/** Returns true if `element` begins after the start of `other` in the document. */
function isAfter(element: Element, other: Element): boolean {
  return (other.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

function focusAction(action: Element | null | undefined): void {
  if (!(action instanceof HTMLElement)) return;
  action.focus({ preventScroll: true });
  const isTall = action.getBoundingClientRect().height > window.innerHeight;
  action.scrollIntoView({ block: isTall ? 'start' : 'nearest' });
}

/**
 * Clicks the button or focuses the field that belongs to this key in the action. If the person has not seen the end of
 * the action yet, only scrolls to it.
 */
function activateControl(action: HTMLElement, key: string): void {
  const control = action.querySelector<HTMLElement>(`[data-key="${key}"]`);
  if (!control) return;
  if (action.dataset['seen'] !== 'true') action.scrollIntoView({ block: 'end' });
  else if (control instanceof HTMLDivElement) control.querySelector<HTMLElement>(FIELDS)?.focus();
  else if (control instanceof HTMLButtonElement && key !== 'd') control.click();
  else control.focus();
}
