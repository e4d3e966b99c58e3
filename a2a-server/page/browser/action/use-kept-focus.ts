import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Selects what the page focuses only from a script. */
const PLACE = '[tabindex="-1"]';

/**
 * Keeps the focus in `box` when the page removes or disables the focused element. Without a focus, a person with a
 * keyboard or a screen reader loses the place on the page.
 * @param box an element with `tabindex="-1"`, or one that contains such an element
 */
export function useKeptFocus(box: RefObject<HTMLElement>): void {
  // The page renders before it changes the document, so this is the focus before the change.
  const hadFocus = box.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    const { current } = box;
    if (!hadFocus || current === null) return;
    const { activeElement } = document;
    if (current.contains(activeElement) && activeElement?.matches(':disabled') === false) return;
    const place = current.matches(PLACE) ? current : current.querySelector<HTMLElement>(PLACE);
    place?.focus({ preventScroll: true });
  });
}
