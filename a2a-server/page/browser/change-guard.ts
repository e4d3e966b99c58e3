/**
 * Ignores clicks within half a second after a change of the page, because the person meant the old content. Examples
 * are the second click of a double click, and a click on a button that has just moved under the cursor.
 *
 * - Each change of elements and texts starts this time. Changes below `data-live` do not, because they move no button.
 * - The guard also covers keys, because browsers convert Enter and Space on a button to a click.
 */

const PAUSE_MS = 500;

/** Runs `act` once after `ms` milliseconds. @returns a function that cancels it */
type StartTimer = (ms: number, act: () => void) => () => void;

const browserTimer: StartTimer = (ms, act) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

/** While it ignores clicks, `root` has the attribute `data-changing`. The style sheet shows this state. */
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
