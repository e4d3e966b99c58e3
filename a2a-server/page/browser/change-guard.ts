/**
 * Ignores clicks within half a second after the page has changed, because the person aimed at the old content. This
 * covers the second click of a double click, and a click on a button that has just moved under the cursor.
 *
 * - Every change of elements and texts counts, except below `data-live`: output that grows there moves no button.
 * - Keys count as clicks: browsers turn Enter and Space on a button into a click.
 */

const PAUSE_MS = 500;

/** Runs `act` once after `ms` milliseconds. @returns a function that cancels it */
type StartTimer = (ms: number, act: () => void) => () => void;

const browserTimer: StartTimer = (ms, act) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

/** While clicks are ignored, `root` has the attribute `data-changing`, which the style sheet shows. */
export function guardChanges(root: HTMLElement, after: StartTimer = browserTimer): void {
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
