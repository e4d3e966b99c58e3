/** The counts that the census taker inside a process returns. */
import { z } from 'zod';

/** The environment variable with the socket of the census taker. */
export const CENSUS_SOCKET = 'CENSUS_SOCKET';

/** Counts of reachable objects. */
export const found = z.object({
  /** Every pending callback is one of these functions. */
  functions: z.number(),
  promises: z.number(),
  /** Listeners of event emitters. */
  listeners: z.number(),
  /** Listeners of abort signals. */
  abortListeners: z.number(),
  /** Active timers, whether or not they keep the process alive. */
  timers: z.number(),
});
export type Found = z.infer<typeof found>;

export const counts = found.extend({
  pid: z.number(),
  /** The heap size after a full collection. */
  heapBytes: z.number(),
  /** Sockets, pipes, servers, timers and requests that keep the process alive. */
  handles: z.number(),
});
export type Counts = z.infer<typeof counts>;
