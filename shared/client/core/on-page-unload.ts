/**
 * Calls a function once when the page unloads. R51: this class has listeners only while the caller wants the callback.
 * It listens for two events:
 *
 * - `pagehide` is the last event that every browser sends. Browsers also send it when the page enters the back/forward
 *   cache (`event.persisted`). That counts as an unload too, because the browser alone decides whether it caches a
 *   page.
 * - `beforeunload` comes earlier, so a request has more time (HTML Standard §7.4.2.4). Mobile browsers do not send it.
 *   This event is ignored if the browser asks the person whether to stay on the page.
 */
const UNLOAD_EVENTS = ['beforeunload', 'pagehide'] as const;

export class PageUnload {
  readonly #page: EventTarget | undefined;
  readonly #onLeaving: () => void;
  #watching = false;

  /** @param page undefined outside a web page. The callback then never runs. */
  constructor(page: EventTarget | undefined, onLeaving: () => void) {
    this.#page = page;
    this.#onLeaving = onLeaving;
  }

  watch(wanted: boolean): void {
    if (wanted === this.#watching || this.#page === undefined) return;
    this.#watching = wanted;
    for (const type of UNLOAD_EVENTS) {
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
export function pagehideTarget(): EventTarget | undefined {
  const page: unknown = globalThis;
  return 'onpagehide' in globalThis && page instanceof EventTarget ? page : undefined;
}
