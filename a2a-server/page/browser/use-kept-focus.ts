import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Selects the elements that a script can focus and that the Tab key skips. */
const PLACE = '[tabindex="-1"]';

/**
 * Keeps the focus in `box` when the page removes, moves or disables the focused element. Without a focus, a person with
 * a keyboard or a screen reader loses the place on the page.
 * @param box an element with `tabindex="-1"`, or one that contains such an element
 * @param successorOf returns the element that now shows what the lost element showed, if there is one
 */
export function useKeptFocus(
  box: RefObject<HTMLElement>,
  successorOf?: (lost: HTMLElement, box: HTMLElement) => HTMLElement | undefined,
): void {
  // The page renders before it changes the document, so this is the focus before the change.
  const { activeElement: focused } = document;
  const before = focused instanceof HTMLElement && box.current?.contains(focused) === true ? focused : null;
  useLayoutEffect(() => {
    const { current } = box;
    if (before === null || current === null) return;
    const { activeElement } = document;
    if (current.contains(activeElement) && activeElement?.matches(':disabled') === false) return;
    const place = current.matches(PLACE) ? current : current.querySelector<HTMLElement>(PLACE);
    (successorOf?.(before, current) ?? place)?.focus({ preventScroll: true });
  });
}
