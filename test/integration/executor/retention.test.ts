/** Tests that the server deletes old sessions, and that a later request gets the error "unknown session". */
import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { followTaskJournal } from '../../../a2a-server/executor/queries/follow-task-journal.ts';
import { TaskJournal } from '../../../a2a-server/executor/task-journal/task-journal.ts';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { beginning, completed, delta, working } from '../../support/journal-samples.ts';
import { ADA, messageOf, untilSettled, startScripted, sendUntilSettled } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const DAY = 86_400_000;

describe('a session that ended long ago', () => {
  it('after its retention time a session is deleted with all its tasks; its ids are then unknown', async () => {
    const maintenance = { retentionMs: 30 * DAY };
    const { tasks, clock, failures } = await startScripted([], { maintenance });
    await tasks.recover();
    const first = messageOf('go');
    const accepted = await tasks.send(first);
    const old = await untilSettled(tasks, accepted);
    clock.advance(20 * DAY);
    await tasks.maintenanceIdle();
    const next = await sendUntilSettled(tasks, messageOf('more', { sessionId: old.sessionId }));
    const other = await sendUntilSettled(tasks, messageOf('something else'));

    clock.advance(11 * DAY);
    await tasks.maintenanceIdle();
    expect((await tasks.send(first)).taskId).toBe(accepted.taskId);
    expect((await tasks.snapshot(old.taskId, { principal: ADA })).seq).toBe(old.seq);

    clock.advance(19 * DAY - 3_600_000);
    await tasks.maintenanceIdle();
    const last = await sendUntilSettled(tasks, messageOf('still here', { sessionId: other.sessionId }));
    clock.advance(3 * 3_600_000);
    await tasks.maintenanceIdle();
    // The next maintenance round runs an hour later, and uses the time at its start.
    clock.advance(3_600_000);
    await tasks.maintenanceIdle();
    const unknown = { reason: 'UNKNOWN_TASK' };
    for (const { taskId, seq } of [old, next]) {
      await expect(tasks.snapshot(taskId, { principal: ADA })).rejects.toMatchObject(unknown);
      const { signal } = new AbortController();
      await expect(tasks.follow(taskId, seq, { until: 'ended', signal }).next()).rejects.toMatchObject(
        unknown,
      );
    }
    await expect(tasks.send(messageOf('more', { sessionId: old.sessionId }))).rejects.toMatchObject({
      reason: 'UNKNOWN_SESSION',
    });
    expect((await tasks.list({ principal: ADA }, { size: 10 })).rows.map(({ taskId }) => taskId)).toEqual([
      last.taskId,
      other.taskId,
    ]);
    expect((await tasks.send(first)).taskId).not.toBe(old.taskId);
    expect(failures).toEqual([]);
  });
});

describe('a task that is deleted during a read', () => {
  it('S2 a stream reader and a snapshot reader of a deleted task get "unknown task"; neither gets an incomplete task', async () => {
    const path = join(await temporaryDirectory(), 'journal.db');
    const journal = await openSqliteJournal({ path, clock: () => 1 });
    try {
      const deltas = Array.from({ length: 2_500 }, () => delta('a'));
      await journal.append(beginning('a', { events: [working, ...deltas, completed] }));
      const { signal } = new AbortController();
      const reader = followTaskJournal(journal, { taskId: 'a', after: 0 }, { until: 'ended', signal });
      expect((await reader.next()).value).toHaveLength(256);
      const read = journal.read.bind(journal);
      let pages = 0;
      journal.read = async (...asked) => {
        const page = await read(...asked);
        pages += 1;
        if (pages === 1) expect(await journal.deleteEndedSessions(2, 10)).toBe(1);
        return page;
      };
      expect(await new TaskJournal(journal).load('a')).toBeUndefined();
      expect(pages).toBe(2);
      await expect(reader.next()).rejects.toMatchObject({ reason: 'UNKNOWN_TASK' });
    } finally {
      await journal.close();
    }
  });
});
