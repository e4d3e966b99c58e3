/** Tests three server processes on one PostgreSQL behind a HAProxy that sends each request to another server. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { signedIn } from '../../integration/web/support/page-requests.ts';
import { decisionOn } from '../../support/a2a-message.ts';
import { A2aPeer } from '../../support/a2a-peer.ts';
import {
  CHECK_MS,
  type LoadBalancer,
  startLoadBalancer,
  whyNoLoadBalancer,
} from '../../support/load-balancer.ts';
import { plan, write } from '../../support/offline-plan.ts';
import {
  type PostgresServer,
  START_LIMIT_MS,
  startPostgres,
  whyNoPostgres,
} from '../../support/postgres-server.ts';
import { homeDirectoryOf, newServerHome, PROGRAM, type ServerHome } from '../../support/server-program.ts';
import { stage, type Stage } from '../../support/stage.ts';
import type { StreamEvent } from '../../support/wire-event.ts';

const TOKEN = 'a-token-of-all-servers-0123456789';
const execFileAsync = promisify(execFile);
const CLIENTS = 4;
/** Many intervals of the balancer’s checks, so that it has seen a check fail even on a busy machine. */
const DRAIN_S = 5;

const missing = whyNoPostgres ?? whyNoLoadBalancer;

if (missing !== undefined) it.skip(`not run: ${missing}`, () => undefined);
else {
  let database: PostgresServer;
  let url: string;
  let shared: ServerHome;
  let balancer: LoadBalancer;

  beforeAll(async () => {
    database = await startPostgres();
  }, START_LIMIT_MS);

  beforeEach(async () => {
    url = await database.createDatabase();
    shared = await newServerHome();
  });

  afterEach(async () => {
    await balancer.close();
    await database.dropDatabase(url);
    await rm(homeDirectoryOf(shared), { recursive: true, force: true });
  });

  afterAll(() => database.dispose());

  /** Starts a server with its own state directory and the workspace of all. */
  const replica = async (port = 0): Promise<Stage> =>
    stage({
      args: [`--workspace=${shared.workspace}`, `--drain=${DRAIN_S}s`, `--port=${port}`],
      env: { A2A_SERVER_DATABASE: url, A2A_SERVER_TOKENS: `team=${TOKEN}` },
    });

  async function startAll(): Promise<{ servers: Stage[]; peer: A2aPeer }> {
    const servers = await Promise.all([replica(), replica(), replica()]);
    balancer = await startLoadBalancer(servers.map(({ server }) => server));
    return { servers, peer: new A2aPeer({ url: balancer.url, token: TOKEN }) };
  }

  /** Runs `a2a-server token` for the database. The servers run. */
  async function tokenCommand(...args: string[]): Promise<string> {
    const state = ['--state-dir', join(shared.stateDir, 'of-the-command')];
    const { stdout } = await execFileAsync(process.execPath, [PROGRAM, 'token', ...args, ...state], {
      env: { PATH: process.env['PATH'], A2A_SERVER_DATABASE: url },
    });
    return stdout;
  }

  const fileOf = (name: string): Promise<string> => readFile(join(shared.workspace, name), 'utf8');

  describe('a balancer without stickiness', () => {
    it('R111 delegation, look, approval, stream and result work, though each request reaches another server', async () => {
      const { peer } = await startAll();
      const names = [];
      for (let request = 0; request < 3; request += 1) {
        const { headers, body } = await peer.request('/readyz', { method: 'GET' });
        for await (const chunk of body) void chunk;
        names.push(headers.get('x-served-by'));
      }
      expect(new Set(names)).toEqual(new Set(['s0', 's1', 's2']));
      const sent = await peer.send(plan(write('a.txt', 'one'), write('b.txt', 'two'), { say: 'We end.' }));
      const follower = await peer.follow(sent.taskId, 0);
      const looked = await peer.task(sent.taskId);
      const second = await (await peer.decide(sent.taskId, [decisionOn(looked.pending, 'approve')])).parked();
      const decided = await peer.decide(sent.taskId, [decisionOn(second.pending, 'approve')]);
      expect((await decided.rest()).at(-1)?.state).toBe('COMPLETED');
      expect((await follower.rest()).at(-1)?.state).toBe('COMPLETED');
      expect([await fileOf('a.txt'), await fileOf('b.txt')]).toEqual(['one', 'two']);
    });
  });

  describe('people who use servers behind a balancer without stickiness', () => {
    it('X1 an issued token and a sign-in of the page count at every server, and end at every server', async () => {
      await startAll();
      const token = (await tokenCommand('create', '--name', 'ann')).trim();
      const ann = new A2aPeer({ url: balancer.url, token });
      const get = await signedIn({ server: { url: balancer.url, token } });
      const statuses = async (): Promise<number[]> => {
        const found = [];
        for (let server = 0; server < 3; server += 1)
          found.push((await get('/agent')).status, (await ann.request('/tasks', { method: 'GET' })).status);
        return found;
      };
      expect(await statuses()).toEqual(Array(6).fill(200));
      const stream = await get('/task-changes');
      expect(stream.status).toBe(200);
      const listed = z.object({ tokens: z.array(z.object({ id: z.string(), state: z.string() })) });
      const [made] = listed.parse(JSON.parse(await tokenCommand('list', '--json'))).tokens;
      await tokenCommand('revoke', made?.id ?? '');
      expect(await statuses()).toEqual(Array(6).fill(401));
      await stream.text();
    });
  });

  describe('servers that restart one after another under load', () => {
    it('R118 no request fails, every task completes, and each approved write happens once', async () => {
      const { servers, peer } = await startAll();
      const rolling = { over: false };
      const clients = Array.from({ length: CLIENTS }, (_, client) => worksUntil(rolling, peer, client));
      for (const { server } of servers) {
        expect(await server.stop()).toBe(0);
        const again = await replica(Number(new URL(server.url).port));
        await untilReady(again);
      }
      rolling.over = true;
      const done = await Promise.all(clients);
      for (const tasks of done) expect(tasks).toBeGreaterThan(0);
      // The PostgreSQL driver warns there if two statements run on one connection at the same time.
      for (const { server } of servers) expect(server.log()).not.toContain('a library wrote to the console');
      const appended = await Promise.all(done.map((_, client) => fileOf(`client-${client}.txt`)));
      expect(appended.map((text) => text.match(/\n/g)?.length)).toEqual(done);
    }, 180_000);
  });

  /** Delegates, approves and reads the result again and again. @returns the number of tasks */
  async function worksUntil(rolling: { over: boolean }, peer: A2aPeer, client: number): Promise<number> {
    let tasks = 0;
    while (!rolling.over) {
      const text = plan(
        { tool: 'append-file', input: { path: `client-${client}.txt`, content: `${tasks}\n` } },
        { say: 'We end.' },
      );
      const sent = await peer.send(text);
      const { pending } = await peer.task(sent.taskId);
      const stream = await peer.decide(sent.taskId, [decisionOn(pending, 'approve')]);
      await untilCompleted(peer, sent.taskId, stream.seen, () => stream.next());
      expect((await peer.task(sent.taskId)).state).toBe('COMPLETED');
      tasks += 1;
    }
    return tasks;
  }

  /** Waits until the balancer has seen that the server is ready. */
  async function untilReady({ server }: Stage): Promise<void> {
    const own = new A2aPeer({ url: server.url, token: TOKEN });
    while ((await own.request('/readyz', { method: 'GET' })).status !== 200) await pause();
    for (let check = 0; check < 3; check += 1) await pause();
  }
}

/** Reads the stream. If its server stops, continues at another server after the last event. */
async function untilCompleted(
  peer: A2aPeer,
  taskId: string,
  seen: readonly StreamEvent[],
  next: () => Promise<StreamEvent | undefined>,
): Promise<void> {
  for (;;) {
    const event = await next().catch(() => undefined);
    if (event?.state === 'COMPLETED') return;
    if (event !== undefined) continue;
    const again = await peer.follow(taskId, seen.at(-1)?.seq ?? undefined);
    await untilCompleted(peer, taskId, again.seen, () => again.next());
    return;
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, CHECK_MS));
