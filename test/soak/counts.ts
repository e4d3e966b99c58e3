/** What a process says of itself, when the census taker in it is asked. */
import { z } from 'zod';

/** The environment variable that tells the census taker where it is asked. */
export const CENSUS_SOCKET = 'CENSUS_SOCKET';

/** Among all objects that something holds. */
export const found = z.object({
  /** Whatever is yet to be called back is one of these, with what it closes over. */
  functions: z.number(),
  promises: z.number(),
  /** Of event emitters. */
  listeners: z.number(),
  /** Of abort signals. */
  abortListeners: z.number(),
  /** Armed timers, whether or not they keep the process alive. */
  timers: z.number(),
});
export type Found = z.infer<typeof found>;

export const counts = found.extend({
  pid: z.number(),
  /** In use after a full collection. */
  heapBytes: z.number(),
  /** Sockets, pipes, servers, timers and requests that keep the process alive. */
  handles: z.number(),
});
export type Counts = z.infer<typeof counts>;
