/**
 * Ignores clicks within half a second after a change of the page, because the person meant the old content. One example
 * is the second click of a double click. Another is a click on a button that has just moved under the cursor.
 *
 * - Each change of elements and texts restarts the half second. Changes below `data-live` do not, because they move no
 *   button.
 * - A link within the page (`#…`) only shows another view, so the guard never ignores a click on such a link.
 * - A dialog lies above the page, and a change of the page moves none of its buttons. So the guard never ignores a
 *   click in a dialog.
 * - The guard also covers keys, because browsers convert Enter and Space on a button to a click.
 */

const PAUSE_MS = 500;

/**
 * Starts the guard. While the guard ignores clicks, `root` has the attribute `data-changing`, which the style sheet
 * uses.
 */
export function guardClicks(root: HTMLElement): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const observer = new MutationObserver((records) => {
    if (records.every(({ target }) => isLive(target))) return;
    root.dataset['changing'] = '';
    clearTimeout(timer);
    timer = setTimeout(() => delete root.dataset['changing'], PAUSE_MS);
  });
  observer.observe(root, { childList: true, characterData: true, subtree: true });
  root.addEventListener(
    'click',
    (event) => {
      if (root.dataset['changing'] === undefined || isUnmoved(event.target)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { capture: true },
  );
}

function isUnmoved(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a[href^="#"], dialog') !== null;
}

function isLive(target: Node): boolean {
  const element = target instanceof Element ? target : target.parentElement;
  return element !== null && element.closest('[data-live]') !== null;
}
