/** The options of both clients. */
import type { Patience } from './patience.ts';
import type { ServiceOptions } from './service.ts';

export interface ClientOptions extends ServiceOptions {
  /** Missing fields get their defaults. */
  patience?: Partial<Patience> | undefined;
  /** The target of the `pagehide` event. The default is the current window. */
  page?: EventTarget | undefined;
}
