import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findServer, type LocalServer } from '../../../bridge/local-server/find-server.ts';
import { readServerRecord, writeServerRecord } from '../../../shared/state/server-record.ts';
import { obtainToken } from '../../../shared/state/token-file.ts';

/**
 * Stands for the built a2a-server: notes each start, listens, and leaves its address when it is ready. It is started
 * detached, as the real one is, so it sees to its own end.
 */
const SERVER = `
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
const state = process.argv[process.argv.indexOf('--state-dir') + 1];
const token = readFileSync(state + '/token', 'utf8').trim();
try {
  appendFileSync(state + '/starts', JSON.stringify(process.argv.slice(2)) + '\\n');
} catch {
  process.exit(0);
}
// It outlives neither its state directory, which each test removes, nor the run that started it.
const starter = process.ppid;
setInterval(() => {
  if (!existsSync(state + '/starts') || process.ppid !== starter) process.exit(0);
}, 50);
const server = createServer((request, response) => {
  response.statusCode = request.headers.authorization === 'Bearer ' + token ? 200 : 401;
  response.end('{}');
});
server.listen(0, '127.0.0.1', () => {
  const record = { url: 'http://127.0.0.1:' + server.address().port, pid: process.pid, version: '0', startedAt: new Date().toISOString() };
  writeFileSync(state + '/server.draft', JSON.stringify(record));
  renameSync(state + '/server.draft', state + '/server.json');
});
`;

describe('the local server', () => {
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
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    pids.clear();
    await rm(stateDirectory, { recursive: true, force: true });
  });

  const local = (changes: Partial<LocalServer> = {}): LocalServer => ({
    stateDirectory,
    script,
    autoStart: true,
    configFile: undefined,
    ...changes,
  });
  const starts = async (): Promise<number> =>
    (await readFile(join(stateDirectory, 'starts'), 'utf8')).trim().split('\n').length;

  test('is started when none runs, and found with the token of the state directory', async () => {
    const endpoint = await findServer(local());
    const token = await obtainToken(stateDirectory);
    expect(endpoint.headers).toEqual({ authorization: `Bearer ${token}` });
    expect((await fetch(endpoint.url, { headers: endpoint.headers })).status).toBe(200);
  });

  test('is one for all bridges, however many start together', async () => {
    const endpoints = await Promise.all(Array.from({ length: 5 }, () => findServer(local())));
    expect(new Set(endpoints.map((each) => each.url)).size).toBe(1);
    expect(await starts()).toBe(1);
    expect((await findServer(local())).url).toBe(endpoints[0]?.url);
    expect(await starts()).toBe(1);
  });

  test('is told the configuration file that the bridge was told', async () => {
    await findServer(local({ configFile: '/somewhere/config.json' }));
    const [line = ''] = (await readFile(join(stateDirectory, 'starts'), 'utf8')).split('\n');
    expect(JSON.parse(line)).toEqual(['--state-dir', stateDirectory, '--config', '/somewhere/config.json']);
  });

  test('is started anew when the one that left its address has been killed', async () => {
    const before = await findServer(local());
    const record = await readServerRecord(stateDirectory);
    process.kill(record?.pid ?? 0, 'SIGKILL');
    const gone = async (): Promise<boolean> =>
      fetch(before.url).then(
        () => false,
        () => true,
      );
    while (!(await gone())) await new Promise(setImmediate);
    await findServer(local());
    expect(await starts()).toBe(2);
  });

  test('is waited for while it shuts down, and started anew when it has gone', async () => {
    let asked = 0;
    const closing = createServer((_, response) => {
      asked += 1;
      response.end(JSON.stringify({ status: 'closing' }));
      if (asked === 3) closing.close().closeAllConnections();
    });
    await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve));
    const address = closing.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const url = `http://127.0.0.1:${String(port)}`;
    await writeServerRecord(stateDirectory, { url, pid: process.pid, version: '0', startedAt: 'then' });
    expect((await findServer(local())).url).not.toBe(url);
    expect([asked, await starts()]).toEqual([3, 1]);
  });

  test('ends at once: the error shows the end of its log', async () => {
    await writeFile(
      script,
      `console.error('old line'); console.error('Port 41242 is taken: another program listens there.'); process.exit(78);`,
    );
    await expect(findServer(local())).rejects.toThrow(
      /could not be started: it ended at once \(exit code 78\)[^]*another program listens there[^]*A2A_SERVER_PORT.*config\.json/,
    );
    // Nothing is left locked: the next attempt is not kept waiting.
    await writeFile(script, SERVER);
    await expect(findServer(local())).resolves.toMatchObject({ url: expect.stringContaining('http://') });
  });

  test('cannot be found when it may not be started: the error says how to start it', async () => {
    await expect(findServer(local({ autoStart: false }))).rejects.toThrow(
      `Start it with: node ${script} --state-dir ${stateDirectory}`,
    );
  });

  test('X1 a program that has the address of a server that has gone is never shown the token', async () => {
    const shown: unknown[] = [];
    const stranger = createServer((request, response) => {
      shown.push(request.headers.authorization);
      response.end();
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const address = stranger.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    // No process has a pid as great as this.
    await writeServerRecord(stateDirectory, {
      url: `http://127.0.0.1:${String(port)}`,
      pid: 2 ** 30,
      version: '0',
      startedAt: 'then',
    });
    const found = await findServer(local());
    expect(found.url).not.toContain(String(port));
    expect(shown).toEqual([]);
    stranger.close();
  });

  test('answers as a stranger would while its process lives: an error that names the address and the pid', async () => {
    const stranger = createServer((_, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const address = stranger.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await writeServerRecord(stateDirectory, {
      url: `http://127.0.0.1:${String(port)}`,
      pid: process.pid,
      version: '0',
      startedAt: 'now',
    });
    await expect(findServer(local())).rejects.toThrow(
      new RegExp(`127.0.0.1:${String(port)}.*HTTP 404.*pid ${String(process.pid)}`),
    );
    stranger.close();
  });
});
