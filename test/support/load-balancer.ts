/** Starts a HAProxy for tests. It sends each request to the next server, without stickiness, and checks `/readyz`. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** The reason why no load balancer can run here. Undefined if one can. */
export const whyNoLoadBalancer =
  spawnSync('haproxy', ['-v']).status === 0
    ? undefined
    : 'haproxy is not installed (Debian: apt-get install haproxy)';

/** The interval of the checks of `/readyz`, in milliseconds. */
export const CHECK_MS = 100;

export interface LoadBalancer {
  url: string;
  close: () => Promise<void>;
}

export async function startLoadBalancer(servers: readonly { url: string }[]): Promise<LoadBalancer> {
  const directory = await mkdtemp(join(tmpdir(), 'haproxy-'));
  const port = await freePort();
  const file = join(directory, 'haproxy.cfg');
  await writeFile(file, configuration(port, servers));
  const haproxy = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  haproxy.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(haproxy, 'exit');
  await Promise.race([
    accepts(port),
    ended.then(() => {
      throw new Error(`haproxy has ended: ${output}`);
    }),
  ]);
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      await end(haproxy, ended);
      await rm(directory, { recursive: true });
    },
  };
}

/** `redispatch` tries the next server if one refuses the connection. Such a request was not sent. */
function configuration(port: number, servers: readonly { url: string }[]): string {
  return [
    'defaults',
    '  mode http',
    '  timeout connect 2s',
    '  timeout check 10s',
    '  timeout client 1m',
    '  timeout server 1m',
    '  option redispatch 1',
    '  retries 3',
    '  balance roundrobin',
    'listen a2a',
    `  bind 127.0.0.1:${port}`,
    '  option httpchk GET /readyz',
    '  http-response set-header x-served-by %s',
    `  default-server check inter ${CHECK_MS} fall 1 rise 1`,
    ...servers.map(({ url }, index) => `  server s${index} ${new URL(url).host}`),
    '',
  ].join('\n');
}

async function accepts(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function end(haproxy: ChildProcess, ended: Promise<unknown>): Promise<void> {
  haproxy.kill('SIGKILL');
  await ended;
}
