import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgentFetch } from '../../../bridge/agents/http/agent-fetch.ts';
import { restartLocalServer } from '../../../bridge/local-server/restart-server.ts';
import { checkLocalServerState } from '../../../bridge/local-server/local-server-state.ts';
import { isProcessOfThisUser } from '../../../bridge/state/process-id.ts';
import {
  findOrStartServer,
  type LocalServerOptions,
} from '../../../bridge/local-server/find-or-start-server.ts';
import { serverProof } from '../../../shared/net/server-proof.ts';
import { readServerRecord, writeServerRecord } from '../../../shared/state/server-record.ts';
import { readOrCreateTokenFile } from '../../../shared/state/token-file.ts';

/**
 * Simulates the built a2a-server. It records each start, listens, and writes its address when it is ready. Like the
 * real server it runs detached, so it must end itself.
 */
const SERVER = `
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
const state = process.argv[process.argv.indexOf('--state-dir') + 1];
const token = readFileSync(state + '/token', 'utf8').trim();
try {
  appendFileSync(state + '/starts', JSON.stringify(process.argv.slice(2)) + '\\n');
} catch {
  process.exit(0);
}
// The simulated server ends when its state directory is deleted, or when the process that started it has ended.
const starter = process.ppid;
setInterval(() => {
  if (!existsSync(state + '/starts') || process.ppid !== starter) process.exit(0);
}, 50);
const mac = (...message) => createHmac('sha256', token).update(JSON.stringify(message)).digest('base64url');
const startedAt = new Date().toISOString();
const server = createServer((request, response) => {
  const nonce = new URL(request.url, 'http://any').searchParams.get('nonce');
  if (nonce !== null) {
    const { localAddress, localPort } = request.socket;
    const proof = mac('mcp-a2a-bridge server identity 1', nonce, localAddress, localPort, process.pid, startedAt, 'ok');
    response.end(JSON.stringify({ pid: process.pid, startedAt, status: 'ok', proof }));
    return;
  }
  const credential = mac('mcp-a2a-bridge run credential 1', process.pid, startedAt);
  response.statusCode = request.headers.authorization === 'Bearer ' + credential ? 200 : 401;
  response.setHeader('content-type', 'application/json');
  response.end('{}');
});
server.listen(0, '127.0.0.1', () => {
  const record = { url: 'http://127.0.0.1:' + server.address().port, pid: process.pid, version: '0', startedAt };
  writeFileSync(state + '/server.draft', JSON.stringify(record));
  renameSync(state + '/server.draft', state + '/server.json');
});
`;

/** Simulates a server that is shutting down. It ends by itself, and records each signal. */
const CLOSING_SERVER = `${SERVER.replaceAll("'ok'", "'closing'")}
process.on('SIGTERM', () => appendFileSync(state + '/signals', 'SIGTERM'));
server.once('request', () => setTimeout(() => process.exit(0), 200));
`;

describe('the local server that a bridge starts', () => {
  let stateDirectory: string;
  let script: string;
  const pids = new Set<number>();

  beforeEach(async () => {
    stateDirectory = await mkdtemp(join(tmpdir(), 'local-server-'));
    script = join(stateDirectory, 'server.mjs');
    await writeFile(script, SERVER);
  });
  afterEach(async () => {
    const record = await readServerRecord(stateDirectory);
    if (record !== undefined && record.pid !== process.pid) pids.add(record.pid);
    for (const pid of pids) if (isProcessOfThisUser(pid)) process.kill(pid, 'SIGKILL');
    pids.clear();
    await rm(stateDirectory, { recursive: true, force: true });
  });

  const local = (changes: Partial<LocalServerOptions> = {}): LocalServerOptions => ({
    stateDir: stateDirectory,
    script,
    autoStart: true,
    configFile: undefined,
    ...changes,
  });
  const starts = async (): Promise<number> =>
    (await readFile(join(stateDirectory, 'starts'), 'utf8')).trim().split('\n').length;

  test('the bridge starts a server if none runs, and gets a credential that is valid for this run, not the token', async () => {
    const endpoint = await findOrStartServer(local());
    const token = await readOrCreateTokenFile(stateDirectory);
    expect(endpoint.headers['authorization']).toMatch(/^Bearer [\w-]{43}$/);
    expect(JSON.stringify(endpoint)).not.toContain(token);
    expect(endpoint.isGone?.()).toBe(false);
    expect((await fetch(endpoint.url, { headers: endpoint.headers })).status).toBe(200);
  });

  test('all bridges share one server, even if several bridges start it at the same time', async () => {
    const endpoints = await Promise.all(Array.from({ length: 5 }, () => findOrStartServer(local())));
    expect(new Set(endpoints.map((each) => each.url)).size).toBe(1);
    expect(await starts()).toBe(1);
    expect((await findOrStartServer(local())).url).toBe(endpoints[0]?.url);
    expect(await starts()).toBe(1);
  });

  test('B3 if a bridge is killed while it starts the server, the next bridge finds that server without a pause', async () => {
    await readOrCreateTokenFile(stateDirectory);
    await mkdir(join(stateDirectory, 'server-start.lock'));
    const found = findOrStartServer(local());
    const { pid = 0 } = spawn(process.execPath, [script, '--state-dir', stateDirectory], { stdio: 'ignore' });
    pids.add(pid);
    await expect(found).resolves.toMatchObject({ url: expect.stringContaining('http://') });
    expect((await readServerRecord(stateDirectory))?.pid).toBe(pid);
  });

  test('the server gets the configuration file of the bridge', async () => {
    await findOrStartServer(local({ configFile: '/somewhere/config.json' }));
    const [line = ''] = (await readFile(join(stateDirectory, 'starts'), 'utf8')).split('\n');
    expect(JSON.parse(line)).toEqual([
      '--state-dir',
      stateDirectory,
      '--log-file',
      join(stateDirectory, 'server.log'),
      '--config',
      '/somewhere/config.json',
    ]);
  });

  test('after a kill of the server, the bridge starts a new one, although the old address is still in the file', async () => {
    const before = await findOrStartServer(local());
    const record = await readServerRecord(stateDirectory);
    process.kill(record?.pid ?? 0, 'SIGKILL');
    const gone = async (): Promise<boolean> =>
      fetch(before.url).then(
        () => false,
        () => true,
      );
    while (!(await gone())) await new Promise(setImmediate);
    await findOrStartServer(local());
    expect(await starts()).toBe(2);
  });

  test('a restart starts one server, even if bridges look for a server at the same time', async () => {
    const before = await findOrStartServer(local());
    const [restarted, ...found] = await Promise.all([
      restartLocalServer(local()),
      ...Array.from({ length: 5 }, () => findOrStartServer(local())),
    ]);
    expect(restarted?.before.url).toBe(before.url);
    expect(restarted?.after.pid).not.toBe(restarted?.before.pid);
    expect(isProcessOfThisUser(restarted?.before.pid ?? 0)).toBe(false);
    expect(await starts()).toBe(2);
    // One bridge may still have found the old server. The next bridge must find the new one.
    const urls = [before.url, restarted?.after.url];
    expect(found.filter(({ url }) => !urls.includes(url))).toEqual([]);
    expect((await findOrStartServer(local())).url).toBe(restarted?.after.url);
  });

  test('a restart starts nothing if no server runs', async () => {
    expect(await restartLocalServer(local())).toBeUndefined();
    await expect(readFile(join(stateDirectory, 'starts'))).rejects.toThrow('ENOENT');
  });

  test('a stop of a server that is shutting down waits for its end, and does not take the grace period from its tools', async () => {
    await readOrCreateTokenFile(stateDirectory);
    await writeFile(script, CLOSING_SERVER);
    const { pid = 0 } = spawn(process.execPath, [script, '--state-dir', stateDirectory], { stdio: 'ignore' });
    pids.add(pid);
    while ((await readServerRecord(stateDirectory)) === undefined) await new Promise(setImmediate);
    expect(await checkLocalServerState(stateDirectory)).toMatchObject({ type: 'closing', record: { pid } });
    expect(await restartLocalServer(local())).toBeUndefined();
    expect(isProcessOfThisUser(pid)).toBe(false);
    await expect(readFile(join(stateDirectory, 'signals'))).rejects.toThrow('ENOENT');
  });

  test('the bridge waits while a server shuts down, and then starts a new one', async () => {
    let asked = 0;
    const token = await readOrCreateTokenFile(stateDirectory);
    const { url, server: closing } = await listening((request, response) => {
      asked += 1;
      response.end(proofOf(request, token, 'closing'));
      if (asked === 3) closing.close().closeAllConnections();
    });
    await writeServerRecord(stateDirectory, { url, pid: process.pid, version: '0', startedAt: 'then' });
    expect((await findOrStartServer(local())).url).not.toBe(url);
    expect([asked, await starts()]).toEqual([3, 1]);
  });

  test('if a server exits at once, the error contains the end of its log', async () => {
    await writeFile(
      script,
      `console.error('old line'); console.error('Port 41242 is taken: another program listens there.'); process.exit(78);`,
    );
    await expect(findOrStartServer(local())).rejects.toThrow(
      /could not be started: it ended at once \(exit code 78\)[^]*another program listens there[^]*A2A_SERVER_PORT.*config\.json/,
    );
    // On a full disk, the server cannot write its log.
    await writeFile(script, 'process.exit(1);');
    await expect(findOrStartServer(local())).rejects.toThrow('check that the disk has free space');
    // The failed start must leave no lock, so the next attempt starts at once.
    await writeFile(script, SERVER);
    await expect(findOrStartServer(local())).resolves.toMatchObject({
      url: expect.stringContaining('http://'),
    });
  });

  test('if the disk refuses the server’s log, the error is typed and tells the caller to check the disk', async () => {
    await mkdir(join(stateDirectory, 'server.log'));
    await expect(findOrStartServer(local())).rejects.toMatchObject({
      reason: 'STORAGE',
      message: expect.stringMatching(/EISDIR.*Check that the disk of .* has space/),
    });
  });

  test('if no server runs and the bridge may not start one, the error tells the caller how to start it', async () => {
    await expect(findOrStartServer(local({ autoStart: false }))).rejects.toThrow(
      `Start it with: node ${script} --state-dir ${stateDirectory}`,
    );
  });

  test('X1 if another program uses the address of an ended server, the bridge sends no request to it', async () => {
    const shown: unknown[] = [];
    const { url, server } = await listening((request, response) => {
      shown.push(request.url);
      response.end();
    });
    // No process has such a large pid.
    await writeServerRecord(stateDirectory, { url, pid: 2 ** 30, version: '0', startedAt: 'then' });
    expect((await findOrStartServer(local())).url).not.toBe(url);
    expect(shown).toEqual([]);
    server.close();
  });

  test('R104 X1 another program at the address, with a copy of the agent card, receives no token', async () => {
    const token = await readOrCreateTokenFile(stateDirectory);
    const credentials: unknown[] = [];
    const { url, server } = await listening((request, response) => {
      credentials.push(request.headers.authorization);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ name: 'mcp-a2a-bridge agent', status: 'ok', pid: process.pid }));
    });
    await writeServerRecord(stateDirectory, { url, pid: process.pid, version: '0', startedAt: 'now' });
    await expect(findOrStartServer(local())).rejects.toThrow(/does not answer as it should/);
    expect(await checkLocalServerState(stateDirectory)).toMatchObject({ type: 'strange' });
    expect(credentials).toEqual([undefined, undefined]);
    expect(token).not.toBe('');
    server.close();
  });

  test('R104 X1 a program that forwards the challenge to the real server receives no token', async () => {
    const real = await findOrStartServer(local());
    const credentials: unknown[] = [];
    const { url, server } = await listening((request, response) => {
      credentials.push(request.headers.authorization);
      void fetch(new URL(request.url ?? '/', real.url)).then(async (answer) =>
        response.end(await answer.text()),
      );
    });
    const record = await readServerRecord(stateDirectory);
    if (record !== undefined) pids.add(record.pid);
    await writeServerRecord(stateDirectory, { url, pid: process.pid, version: '0', startedAt: 'now' });
    await expect(findOrStartServer(local())).rejects.toThrow(/does not prove that it knows the token/);
    expect(credentials).toEqual([undefined]);
    server.close();
  });

  test('R104 X1 if another program takes the port of a killed server, a connected bridge sends no request to it', async () => {
    const real = await findOrStartServer(local());
    const requests: unknown[] = [];
    const { pid = 0 } = (await readServerRecord(stateDirectory)) ?? {};
    const connected = createAgentFetch({ origin: real.url, ...real });
    expect((await connected(real.url)).status).toBe(200);
    process.kill(pid, 'SIGKILL');
    while (real.isGone?.() !== true) await new Promise(setImmediate);
    const { port } = new URL(real.url);
    const { server } = await listening((request, response) => {
      requests.push(request.headers.authorization);
      response.end('{}');
    }, Number(port));
    await expect(connected(real.url)).rejects.toThrow('fetch failed');
    expect(requests).toEqual([]);
    server.close();
  });

  test('if a live server process does not prove its identity, the error names the address and the pid', async () => {
    const { url, server } = await listening((_, response) => response.writeHead(404).end());
    await writeServerRecord(stateDirectory, { url, pid: process.pid, version: '0', startedAt: 'now' });
    await expect(findOrStartServer(local())).rejects.toThrow(
      new RegExp(`${url}.*HTTP 404.*pid ${String(process.pid)}`),
    );
    server.close();
  });
});

async function listening(listener: RequestListener, at = 0): Promise<{ url: string; server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${String(port)}`, server };
}

/** Returns the real server's answer to a challenge. */
function proofOf(request: IncomingMessage, token: string, status: 'ok' | 'closing'): string {
  const { localAddress: address = '', localPort: port = 0 } = request.socket;
  const nonce = new URL(request.url ?? '/', 'http://any').searchParams.get('nonce') ?? '';
  const claim = { pid: process.pid, startedAt: 'then', status };
  return JSON.stringify({ ...claim, proof: serverProof(token, claim, { nonce, address, port }) });
}
