/**
 * A click within half a second of a change of what the page shows counts for nothing: the person aimed at something else. The
 * second click of a double click, and a click on a button that has just come under the cursor, fall into that time.
 *
 * - Every change of the page's elements and texts counts, except below `data-live`: output that grows there moves no button.
 * - Keys count as clicks: browsers turn Enter and Space on a button into one.
 */

const PAUSE_MS = 500;

/** Runs `act` once after `ms` milliseconds. @returns how to call it off */
export type After = (ms: number, act: () => void) => () => void;

const browserTimer: After = (ms, act) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

/** While clicks count for nothing, `root` has the attribute `data-changing`; the style sheet shows that. */
export function guardChanges(root: HTMLElement, after: After = browserTimer): void {
  let callOff: (() => void) | undefined;
  const observer = new MutationObserver((records) => {
    if (records.every(({ target }) => isLive(target))) return;
    root.dataset['changing'] = '';
    callOff?.();
    callOff = after(PAUSE_MS, () => delete root.dataset['changing']);
  });
  observer.observe(root, { childList: true, characterData: true, subtree: true });
  root.addEventListener(
    'click',
    (event) => {
      if (root.dataset['changing'] === undefined) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { capture: true },
  );
}

function isLive(target: Node): boolean {
  const element = target instanceof Element ? target : target.parentElement;
  return element !== null && element.closest('[data-live]') !== null;
}
