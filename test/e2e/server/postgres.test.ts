/** Tests a server whose tasks are in a real PostgreSQL: approvals, kills, and a database that crashes. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { decisionOn } from '../../support/a2a-message.ts';
import { freePort } from '../../support/free-port.ts';
import { makeGate } from '../../support/gate.ts';
import { append, plan, shell } from '../../support/offline-plan.ts';
import { onPostgres } from '../../support/on-postgres.ts';
import { beginTransaction, untilWaitingForLocks } from '../../support/postgres-locks.ts';
import { launchServer } from '../../support/server-program.ts';
import { stage, stageAgain, type Stage } from '../../support/stage.ts';
import { startsIn } from '../../support/wire-event.ts';

/** The interval in which a test asks again for a state that no event announces. */
const ASK_AGAIN_MS = 50;

async function healthOf({ server }: Stage): Promise<{ status: number; text: string }> {
  const response = await fetch(new URL('/health', server.url), {
    headers: { authorization: `Bearer ${server.token}` },
  });
  return { status: response.status, text: await response.text() };
}

async function untilHealthIs(status: number, from: Stage): Promise<void> {
  while ((await healthOf(from)).status !== status)
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
}

onPostgres([], (database) => {
  let url: string;

  beforeEach(async () => {
    url = await database().createDatabase();
  });

  afterEach(() => database().dropDatabase(url));

  const postgresStage = (): Promise<Stage> => stage({ env: { A2A_SERVER_DATABASE: url } });

  describe('a server on PostgreSQL', () => {
    it('while it waits for the database at its start, it is alive, not ready, and says why', async () => {
      const first = await postgresStage();
      await first.server.stop();
      const release = await beginTransaction(url, 'LOCK TABLE nodes');
      const port = await freePort();
      const env = { A2A_SERVER_DATABASE: url };
      const second = launchServer({ home: first.server, args: ['--port', String(port)], env });
      await untilWaitingForLocks(url, 1);
      const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
      expect((await ask('/livez')).status).toBe(200);
      const readiness = await ask('/readyz');
      expect(readiness.status).toBe(503);
      expect(await readiness.json()).toEqual({ status: 'unavailable', reasons: ['starting'] });
      const refused = await ask('/tasks');
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await refused.text()).toContain('The server is starting.');
      await release();
      await second.ready;
      expect((await ask('/readyz')).status).toBe(200);
      await second.stop();
    });

    it('R20 a call that waits while the server is killed runs once after its approval', async () => {
      const before = await postgresStage();
      const text = plan(append('effects.txt', 'one'), append('effects.txt', ' two'), { say: 'We end.' });
      const { taskId, pending } = await (await before.peer.stream(text)).parked();
      const seen = await before.peer.task(taskId);
      await before.server.kill();

      const { peer, file } = await stageAgain(before);
      expect(await peer.task(taskId)).toEqual(seen);
      expect(await file('effects.txt')).toBeUndefined();
      const asked = await (await peer.decide(taskId, [decisionOn(pending, 'approve')])).parked();
      expect(await file('effects.txt')).toBe('one');
      const last = await peer.decide(taskId, [decisionOn(asked.pending, 'approve')]);
      expect((await last.rest()).at(-1)?.state).toBe('COMPLETED');
      expect(await file('effects.txt')).toBe('one two');
      expect(startsIn(await peer.history(taskId))).toBe(2);
    });

    it('R21 a command that ran while the server was killed has an unknown outcome, and does not run again by itself', async () => {
      const before = await postgresStage();
      const gate = await makeGate(before.server.workspace);
      const text = plan(shell(`echo $$ >> effects.txt; echo running; ${gate.wait}`));
      const { taskId, pending } = await (await before.peer.stream(text)).parked();
      const second = await before.peer.decide(taskId, [decisionOn(pending, 'approve')]);
      await second.output('running');
      await before.server.kill();
      process.kill(-Number(await before.file('effects.txt')), 'SIGKILL');

      const { peer, file } = await stageAgain(before);
      const parked = await (await peer.follow(taskId, second.seen.at(-1)?.seq ?? 0)).parked();
      expect(parked.pending).toMatchObject([{ reason: 'outcome-unknown' }]);
      expect((await file('effects.txt'))?.match(/\n/g)).toHaveLength(1);
    });

    it('R117 the database crashes while a command runs: the server is not ready, then it stores the result, and the task goes on', async () => {
      const running = await postgresStage();
      const gate = await makeGate(running.server.workspace);
      const text = plan(shell(`echo x >> effects.txt; echo running; ${gate.wait}`), { say: 'We end.' });
      const { taskId, pending } = await (await running.peer.stream(text)).parked();
      const second = await running.peer.decide(taskId, [decisionOn(pending, 'approve')]);
      await second.output('running');
      await database().crash();
      await untilHealthIs(503, running);
      const ready = await fetch(new URL('/readyz', running.server.url));
      expect(ready.status).toBe(503);
      expect(await ready.json()).toEqual({ status: 'unavailable', reasons: ['journal-unreachable'] });
      expect((await healthOf(running)).text).toContain('"status":"unavailable"');
      await gate.pass();
      await database().start();
      expect((await second.rest()).at(-1)?.state).toBe('COMPLETED');
      await untilHealthIs(200, running);
      expect(await running.file('effects.txt')).toBe('x\n');
      expect(startsIn(await running.peer.history(taskId))).toBe(1);
      await running.server.stop();
      expect(running.server.log()).not.toContain(url);
    });
  });
});
