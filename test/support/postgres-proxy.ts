/** A proxy between a server and PostgreSQL. A test cuts its connections at chosen moments. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The name of the socket that PostgreSQL opens for its default port. */
const SOCKET = '.s.PGSQL.5432';

export interface PostgresProxy {
  /** The URL of the same database, through the proxy. */
  url: string;
  /** Cuts each connection when PostgreSQL answers a request that contains `text`. The answer is lost. */
  loseAnswersTo(text: string): void;
  /** Delays each piece of an answer by `ms`. */
  delayAnswers(ms: number): void;
  /** Stops all traffic, but closes nothing. New connections get no answer. */
  freeze(): void;
  /** Stops the traffic of all open connections, but closes none, as a host that vanishes does. New connections work. */
  strand(): void;
  /** Strands the next connection that sends a request with `text`. Resolves then. */
  strandAt(text: string): Promise<void>;
  /** New connections lead to this server. It has the same databases. */
  redirect(url: string): void;
  /** Cuts all connections. New connections work again. */
  cut(): void;
  /** The number of answers that were lost. */
  lost(): number;
  close(): Promise<void>;
}

export async function startProxy(url: string): Promise<PostgresProxy> {
  const target = new URL(url);
  let socketPath = socketOf(target);
  const directory = await mkdtemp(join(tmpdir(), 'px-'));
  const pairs = new Set<readonly [Socket, Socket]>();
  const stranded = new WeakSet<readonly [Socket, Socket]>();
  let losing: string | undefined;
  let stranding: { text: string; strand: () => void } | undefined;
  let frozen = false;
  let delayMs = 0;
  let lost = 0;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(socketPath);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      pairs.delete(pair);
    };
    let doomed = false;
    client.on('data', (data) => {
      if (frozen || stranded.has(pair)) return;
      if (stranding !== undefined && data.includes(stranding.text)) {
        stranded.add(pair);
        stranding.strand();
        stranding = undefined;
        return;
      }
      if (losing !== undefined && data.includes(losing)) doomed = true;
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (frozen || stranded.has(pair)) return;
      if (!doomed) {
        // Timers with the same delay keep their order.
        if (delayMs === 0) client.write(data);
        else setTimeout(() => client.write(data), delayMs);
        return;
      }
      losing = undefined;
      lost += 1;
      end();
    });
    for (const socket of pair) {
      socket.on('error', end);
      socket.on('close', end);
      socket.on('end', end);
    }
  });
  server.listen(join(directory, SOCKET));
  await once(server, 'listening');
  target.searchParams.set('host', directory);

  return {
    url: target.href,
    loseAnswersTo(text) {
      losing = text;
    },
    strandAt(text) {
      return new Promise((strand) => (stranding = { text, strand }));
    },
    redirect(next) {
      socketPath = socketOf(new URL(next));
    },
    delayAnswers(ms) {
      delayMs = ms;
    },
    freeze() {
      frozen = true;
    },
    strand() {
      for (const pair of pairs) stranded.add(pair);
    },
    cut() {
      frozen = false;
      for (const [client, upstream] of pairs) {
        client.destroy();
        upstream.destroy();
      }
    },
    lost: () => lost,
    async close() {
      for (const [client, upstream] of pairs) {
        client.destroy();
        upstream.destroy();
      }
      server.close();
      await once(server, 'close');
      await rm(directory, { recursive: true });
    },
  };
}

function socketOf(url: URL): string {
  return join(url.searchParams.get('host') ?? '', SOCKET);
}
