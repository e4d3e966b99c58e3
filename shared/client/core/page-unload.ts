/**
 * Calls a function when the page unloads. It listens to two events.
 *
 * - `pagehide` is the last event that every browser sends. A page that only enters the back/forward cache also sends it
 *   (`event.persisted`), and this counts as leaving. The browser alone decides whether to cache a page, and a person's
 *   task must not depend on that.
 * - `beforeunload` comes earlier, so a request has more time (HTML Standard §7.4.2.4). Phones do not send it. It does
 *   not count if the page asks the person whether to stay.
 *
 * Invariant: it listens only while the caller wants a callback (R51). It calls back once.
 */
const LEAVING = ['beforeunload', 'pagehide'] as const;

export class PageUnload {
  readonly #page: EventTarget | undefined;
  readonly #onLeaving: () => void;
  #watching = false;

  /** @param page undefined outside a page; then no callback occurs */
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

/** Whether an earlier listener has made the browser ask the person whether to stay. */
function asksToStay(event: Event): boolean {
  return (
    event.defaultPrevented ||
    ('returnValue' in event && typeof event.returnValue === 'string' && event.returnValue !== '')
  );
}

/** The current page. Undefined in Node and in workers, which have no `pagehide`. */
export function thisPage(): EventTarget | undefined {
  const page: unknown = globalThis;
  return 'onpagehide' in globalThis && page instanceof EventTarget ? page : undefined;
}
