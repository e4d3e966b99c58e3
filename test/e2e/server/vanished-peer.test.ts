/**
 * A vanished peer sends no FIN. If the program writes nothing, only the kernel's keep-alive detects it, and the program
 * must enable it.
 */
import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { stage } from '../../support/stage.ts';
import { startHttp } from '../../integration/bridge/support/bridge-stage.ts';

/**
 * Two kinds of the kernel's timer for a connection, in /proc/net/tcp (Linux, Documentation/networking/proc_net_tcp).
 */
const RETRANSMISSION = '01';
const PROBES = '02';

const onLinux = process.platform === 'linux' ? it : it.skip;

onLinux.each([
  ['the server', async () => (await stage()).server],
  ['the bridge', async () => startHttp((await stage()).server)],
])('E4 the kernel checks whether the peer of an idle connection to %s still exists', async (_, start) => {
  const { url, token } = await start();
  const port = Number(new URL(url).port);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // An answer shows that the program has accepted the connection. With the token, the program keeps it open.
  socket.write(`PUT /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await once(socket, 'data');
  // Until the client has acknowledged the answer, the kernel shows its retransmission timer instead.
  let timer = await timerOf(port, socket.localPort ?? 0);
  while (timer === RETRANSMISSION) timer = await timerOf(port, socket.localPort ?? 0);
  socket.destroy();
  expect(timer).toBe(PROBES);
});

const hex = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;

async function timerOf(local: number, remote: number): Promise<string | undefined> {
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/));
  const row = rows.find(([, from, to]) => from?.endsWith(hex(local)) && to?.endsWith(hex(remote)));
  return row?.[5]?.split(':')[0];
}
