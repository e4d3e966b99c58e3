/** Tests a task whose events are damaged in the journal: the lists, the page, and its session. */
import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { taskGroupsSchema } from '../../../shared/protocol/task-groups.ts';
import { openSqlite } from '../../../shared/sqlite/driver.ts';
import { plan, write } from '../../support/offline-plan.ts';
import { stage, stageAgain } from '../../support/stage.ts';
import { signedIn } from './support/page-requests.ts';

it('R28 a task with damaged events hides no other task, and the next task of its session goes on', async () => {
  const before = await stage();
  const damaged = await before.peer.send(plan({ say: 'One.' }));
  const { sessionId } = damaged;
  const waiting = await before.peer.send(plan(write('a.txt', 'x')), { sessionId });
  await before.server.stop();
  const database = openSqlite(join(before.server.stateDir, 'journal.db'), { busyTimeoutMs: 5_000 });
  const damage =
    "UPDATE events SET body = '{' WHERE seq = 2 AND task = (SELECT key FROM tasks WHERE task_id = ?)";
  expect(database.command(damage)(damaged.taskId)).toBe(1);
  database.close();

  const after = await stageAgain(before);
  const { peer } = after;
  expect((await peer.list()).map(({ taskId }) => taskId)).toEqual([waiting.taskId]);
  const groups = await (await signedIn(after))('/task-groups');
  expect(taskGroupsSchema.parse(await groups.json())).toMatchObject({
    waiting: { tasks: [{ taskId: waiting.taskId }] },
    ended: { tasks: [], total: 1 },
  });
  await expect(peer.task(damaged.taskId)).rejects.toThrow('damaged');
  const [action] = waiting.pending;
  if (action === undefined) throw new Error('nothing waits');
  const { callId, shown } = action;
  const stream = await peer.decide(waiting.taskId, [{ callId, shown, decision: 'approve' }]);
  await stream.rest();
  expect((await peer.task(waiting.taskId)).state).toBe('COMPLETED');
  expect(await after.file('a.txt')).toBe('x');
  // The model does not see the damaged task, so the operator must learn of it.
  expect(after.server.log()).toMatch(new RegExp(`"taskId":"${damaged.taskId}".*damaged`));
});
