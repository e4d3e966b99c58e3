/**
 * Calls a function once when the page unloads. Listens only while the caller wants the callback (R51). Uses two events:
 *
 * - `pagehide` is the last event that every browser sends. A browser also sends it when the page only enters the
 *   back/forward cache (`event.persisted`). That counts as an unload too, because the browser alone decides whether to
 *   cache a page.
 * - `beforeunload` comes earlier, so a request has more time (HTML Standard §7.4.2.4). Phones do not send it. The event
 *   does not count if the page asks the person whether to stay.
 */
const LEAVING = ['beforeunload', 'pagehide'] as const;

export class PageUnload {
  readonly #page: EventTarget | undefined;
  readonly #onLeaving: () => void;
  #watching = false;

  /** @param page undefined outside a page. Then no callback occurs. */
  constructor(page: EventTarget | undefined, onLeaving: () => void) {
    this.#page = page;
    this.#onLeaving = onLeaving;
  }

  watch(wanted: boolean): void {
    if (wanted === this.#watching || this.#page === undefined) return;
    this.#watching = wanted;
    for (const type of LEAVING) {
      if (wanted) this.#page.addEventListener(type, this.#left);
      else this.#page.removeEventListener(type, this.#left);
    }
  }

  readonly #left = (event: Event): void => {
    if (event.type === 'beforeunload' && asksToStay(event)) return;
    this.watch(false);
    this.#onLeaving();
  };
}

/** Returns true if an earlier listener has made the browser ask the person whether to stay. */
function asksToStay(event: Event): boolean {
  return (
    event.defaultPrevented ||
    ('returnValue' in event && typeof event.returnValue === 'string' && event.returnValue !== '')
  );
}

/** Returns the current page. Returns undefined in Node and in workers, which have no `pagehide`. */
export function thisPage(): EventTarget | undefined {
  const page: unknown = globalThis;
  return 'onpagehide' in globalThis && page instanceof EventTarget ? page : undefined;
}
