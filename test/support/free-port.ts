import { createServer } from 'node:net';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** Returns a port on which nothing listens at the moment. */
export async function freePort(): Promise<number> {
  const probe = await listenOnLoopback(createServer());
  await probe.close();
  return probe.port;
}
