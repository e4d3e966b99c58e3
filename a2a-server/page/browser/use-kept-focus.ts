import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Selects the elements that a script can focus and that the Tab key skips. */
const PLACE = '[tabindex="-1"]';

/**
 * Keeps the focus in an element when the page removes, moves or disables the focused element. Without a focus, a person
 * with a keyboard or a screen reader loses the place on the page.
 * @param successorOf returns the element that now shows what the lost element showed, if there is one
 * @returns the `ref` of an element with `tabindex="-1"`, or of one that contains such an element
 */
export function useKeptFocus<Box extends HTMLElement>(
  successorOf?: (lost: HTMLElement, box: HTMLElement) => HTMLElement | undefined,
): RefObject<Box> {
  const box = useRef<Box>(null);
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
  return box;
}
