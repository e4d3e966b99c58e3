/** Resolves names with the system resolver (hosts file, then DNS). */
import { lookup } from 'node:dns/promises';

/** Returns all addresses of a name. @throws the errors of `node:dns` */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, order: 'verbatim' })).map(({ address }) => address);
