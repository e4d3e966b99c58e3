/** Web servers on loopback for tests, some of them hostile, and the settings that allow access to them. */
import { afterEach } from '@jest/globals';
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import { systemClock } from '../../shared/runtime/clock.ts';
import { createHostAllowList } from '../../a2a-server/tools/web/allowed-hosts.ts';
import type { FetchDependencies } from '../../a2a-server/tools/web/fetch-url.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';

export interface Site {
  /** E.g. `http://127.0.0.1:41000`. */
  origin: string;
  host: string;
  port: number;
  /** The requested paths, in order. */
  asked: string[];
  /** The received requests. */
  requests: IncomingMessage[];
  /** The number of open connections. */
  connections: () => Promise<number>;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

export async function openSite(answer: Answer, options: ServerOptions = {}): Promise<Site> {
  const asked: string[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer(options, (request, response) => {
    asked.push(request.url ?? '');
    requests.push(request);
    response.on('error', () => undefined);
    answer(request, response);
  });
  const { host, port, close } = await listenOnLoopback(server);
  closing.push(close);
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) => {
      server.getConnections((error, n) => (error ? reject(error) : resolve(n)));
    });
  return { origin: `http://${host}`, host, port, asked, requests, connections };
}

/** A site with pages by path. A string is HTML; an unknown path is 404. */
export function openPages(pages: Readonly<Record<string, string | Answer>>): Promise<Site> {
  return openSite((request, response) => {
    const page = pages[request.url ?? ''];
    if (typeof page === 'function') return page(request, response);
    if (page === undefined)
      return void response.writeHead(404, { 'Content-Type': 'text/plain' }).end('none here');
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(page);
  });
}

/**
 * @param allow the hosts of the test's sites. @returns the tools' access to the web: real sockets, and only the test's
 * DNS
 */
export function webContextFor(
  allow: readonly string[],
  more: Partial<FetchDependencies> = {},
): FetchDependencies {
  return {
    allowed: createHostAllowList(allow),
    resolve: (host) => Promise.reject(new Error(`the test has no address for ${host}`)),
    clock: systemClock,
    ...more,
  };
}

/** Sends without end, at the speed of the client. */
export function endless(response: ServerResponse, chunk: string | Buffer): void {
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}
