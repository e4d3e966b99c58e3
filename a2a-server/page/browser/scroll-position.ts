/**
 * Remembers which step of a task is at the top of the window, so that a reload shows the same step. The browser itself
 * cannot restore the place, because the steps load later.
 */
import { fieldOf } from '../../../shared/runtime/record.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';

interface PagePlace {
  /** The `seq` of the step at the top of the window. */
  seq: number;
  /** The distance of this step from the top of the window, in CSS pixels. */
  top: number;
}

const key = (taskId: string): string => `place of ${taskId}`;

export function loadScrollPosition(taskId: string): PagePlace | undefined {
  const text = sessionStorage.getItem(key(taskId));
  return text === null ? undefined : parseScrollPosition(text);
}

/** Parses a stored place. Returns undefined for a text that `trackScrollPosition` has not written. */
function parseScrollPosition(text: string): PagePlace | undefined {
  const value = parseJson(text);
  const [seq, top] = [fieldOf(value, 'seq'), fieldOf(value, 'top')];
  return typeof seq === 'number' && typeof top === 'number' ? { seq, top } : undefined;
}

/**
 * The maximum number of frames in which the page corrects the scroll position. The browser lays out steps only near the
 * window, so steps above may grow after the scroll, in a later frame.
 */
const MAX_FRAMES = 60;
const STABLE_FRAMES = 5;

/** Scrolls to the remembered step. Does nothing if the list does not have the step. */
export function scrollToPosition(list: HTMLElement, place: PagePlace | undefined): void {
  if (place === undefined) return;
  const step = list.querySelector(`[data-seq="${place.seq}"]`);
  if (step === null) return;
  let stable = 0;
  const scroll = (frame: number): void => {
    const distance = step.getBoundingClientRect().top - place.top;
    stable = Math.abs(distance) < 1 ? stable + 1 : 0;
    if (stable === STABLE_FRAMES || frame === MAX_FRAMES || !step.isConnected) return;
    window.scrollBy(0, distance);
    requestAnimationFrame(() => scroll(frame + 1));
  };
  scroll(0);
}

/**
 * Stores the scroll position of the task when the browser unloads the page. Returns a function that stores the position
 * at once and removes the listener.
 * @param list the element whose children are blocks of steps
 */
export function trackScrollPosition(list: HTMLElement, taskId: string): () => void {
  const keep = (): void => {
    const place = placeOf(list);
    if (place === undefined) sessionStorage.removeItem(key(taskId));
    else sessionStorage.setItem(key(taskId), JSON.stringify(place));
  };
  window.addEventListener('pagehide', keep);
  return () => {
    window.removeEventListener('pagehide', keep);
    keep();
  };
}

/**
 * Returns the step at the top of the window. Returns undefined at the top of the page, where a reload needs no jump.
 */
function placeOf(list: HTMLElement): PagePlace | undefined {
  if (window.scrollY === 0) return undefined;
  for (const block of list.children) {
    if (block.getBoundingClientRect().bottom <= 0) continue;
    for (const step of block.children) {
      const { top, bottom } = step.getBoundingClientRect();
      if (bottom > 0) return { seq: Number(step.getAttribute('data-seq')), top };
    }
  }
  return undefined;
}
