/** The counts that the census taker inside a process returns. */
import { z } from 'zod';

/** The environment variable with the socket of the census taker. */
export const CENSUS_SOCKET = 'CENSUS_SOCKET';

/** Counts of reachable objects. */
export const found = z.object({
  /** The number of functions. Every pending callback is a function. */
  functions: z.number(),
  promises: z.number(),
  /** The number of listeners on event emitters. */
  listeners: z.number(),
  /** The number of listeners on abort signals. */
  abortListeners: z.number(),
  /** The number of active timers, also of those that do not keep the process alive. */
  timers: z.number(),
});
export type Found = z.infer<typeof found>;

export const counts = found.extend({
  pid: z.number(),
  /** The heap size in bytes, after a full garbage collection. */
  heapBytes: z.number(),
  /** The number of sockets, pipes, servers, timers and requests that keep the process alive. */
  handles: z.number(),
});
export type Counts = z.infer<typeof counts>;
