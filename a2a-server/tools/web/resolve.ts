/** Names to addresses, by the system's own means (its hosts file, then DNS). */
import { lookup } from 'node:dns/promises';

/** All addresses of a name. @throws what `node:dns` throws. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, order: 'verbatim' })).map(({ address }) => address);
