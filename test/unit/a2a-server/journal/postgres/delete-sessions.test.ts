/** Tests the deletion of old sessions while another server uses the same PostgreSQL. */
import { expect, it } from '@jest/globals';
import { openPostgresJournal } from '../../../../../a2a-server/journal/postgres/postgres-journal.ts';
import { beginning, completed, working } from '../../../../support/journal-samples.ts';
import { beginTransaction, untilWaitingForLocks } from '../../../../support/postgres-locks.ts';
import { onPostgres } from '../../../../support/on-postgres.ts';

onPostgres([], (server) => {
  it('E3 a session in which another server begins a task during the deletion is not deleted', async () => {
    const url = await server().createDatabase();
    let now = 1_000;
    const open = () => openPostgresJournal({ url, clock: () => now });
    const [deleting, other] = [await open(), await open()];
    const ended = { events: [working, completed] };
    await deleting.append(beginning('one', { sessionId: 'first', ...ended }));
    now += 1;
    await deleting.append(beginning('two', { sessionId: 'second', ...ended }));
    now += 1_000;
    // The deletion has found both sessions, and waits for the row of the first one.
    const goOn = await beginTransaction(url, "UPDATE tasks SET title = 'locked' WHERE task_id = 'one'");
    const deleted = deleting.deleteEndedSessions(now, 10);
    await untilWaitingForLocks(url, 1);
    await other.append(beginning('three', { sessionId: 'second', events: [working] }));
    await goOn();
    expect(await deleted).toBe(1);
    expect(await other.rows(['one', 'two', 'three'])).toMatchObject([{ taskId: 'two' }, { taskId: 'three' }]);
    expect(await other.read('three', 0, 10)).toHaveLength(2);
    await Promise.all([deleting.close(), other.close()]);
    await server().dropDatabase(url);
  });
});
