/** What both clients take. */
import type { Patience } from './patience.ts';
import type { ServiceOptions } from './service.ts';

export interface ClientOptions extends ServiceOptions {
  /** What is left out takes its default. */
  patience?: Partial<Patience> | undefined;
  /** What says that the page unloads; the window this runs in when left out. */
  page?: EventTarget | undefined;
}
