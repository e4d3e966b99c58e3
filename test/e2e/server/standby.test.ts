/** Tests two server processes on a PostgreSQL whose primary crashes. A synchronous standby becomes the primary. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decisionOn } from '../../support/a2a-message.ts';
import { plan, write } from '../../support/offline-plan.ts';
import { type PostgresProxy, startProxy } from '../../support/postgres-proxy.ts';
import {
  type PostgresServer,
  type Standby,
  START_LIMIT_MS,
  startPostgres,
  whyNoPostgres,
} from '../../support/postgres-server.ts';
import { stage, type Stage } from '../../support/stage.ts';

if (whyNoPostgres !== undefined) it.skip(`not run: ${whyNoPostgres}`, () => undefined);
else {
  let primary: PostgresServer;
  let standby: Standby;
  let url: string;
  let proxy: PostgresProxy;

  beforeAll(async () => {
    primary = await startPostgres();
    url = await primary.createDatabase();
    standby = await primary.addSynchronousStandby();
    proxy = await startProxy(url);
  }, START_LIMIT_MS);

  afterAll(async () => {
    await proxy.close();
    await primary.dispose();
  });

  const replica = (): Promise<Stage> => stage({ env: { A2A_SERVER_DATABASE: proxy.url } });

  describe('a primary that crashes', () => {
    it('R117 the standby has every event that a client has seen, a running task continues, and a waiting call runs once', async () => {
      const [first, second] = [await replica(), await replica()];
      const parked = await first.peer.send(plan(write('a.txt', 'one'), { say: 'We end.' }));
      const stream = await first.peer.stream(plan({ say: 'word ', repeat: 20_000 }, write('b.txt', 'two')));
      const { taskId } = await stream.until((event) => event.text !== '');
      await primary.crash();
      await standby.promote();
      proxy.redirect(standby.urlOf(url));
      proxy.cut();

      const asked = await (await second.peer.follow(taskId, 0)).parked();
      const history = await second.peer.history(taskId);
      // The first event of the stream is the task. It replaces the events before it.
      const seen = stream.seen.slice(1).map(({ data }) => data);
      expect(seen).not.toEqual([]);
      const from = history.findIndex(({ data }) => data === seen[0]);
      expect(history.slice(from, from + seen.length).map(({ data }) => data)).toEqual(seen);
      // The crash cut the stream before its end.
      expect(history.length).toBeGreaterThan(from + seen.length);
      const running = await second.peer.decide(taskId, [decisionOn(asked.pending, 'approve')]);
      expect((await running.rest()).at(-1)?.state).toBe('COMPLETED');
      const decided = await second.peer.decide(parked.taskId, [decisionOn(parked.pending, 'approve')]);
      expect((await decided.rest()).at(-1)?.state).toBe('COMPLETED');
      expect([await first.file('a.txt'), await first.file('b.txt')]).toEqual(['one', 'two']);
    }, 120_000);
  });
}
