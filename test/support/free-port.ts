import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The ports that this process has given out. The port of a killed program must stay free for its next process. */
const given = new Set<number>();

/**
 * Returns a port on which nothing listens, for a program that cannot choose one itself. The port is below the range for
 * outgoing connections, so no connection takes it before the program starts, or between a kill and the restart.
 * @param between chooses a number
 */
export async function freePort(between: (low: number, high: number) => number = randomInt): Promise<number> {
  for (;;) {
    const port = between(15_000, 32_000);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer().listen(port, '127.0.0.1');
    const free = await Promise.race([
      once(server, 'listening').then(() => true),
      once(server, 'error').then(() => false),
    ]).catch(() => false);
    if (!free) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
