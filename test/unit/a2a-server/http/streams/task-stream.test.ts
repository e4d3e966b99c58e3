import { expect, jest, test } from '@jest/globals';
import { Caller } from '../../../../../a2a-server/http/auth/caller.ts';
import { A2aRequestContext } from '../../../../../a2a-server/http/auth/a2a-request-context.ts';
import { streamEventsAfter } from '../../../../../a2a-server/http/streams/task-stream.ts';
import type { JournalEntry } from '../../../../../a2a-server/task/events.ts';
import { Deferred } from '../../../../../shared/client/core/deferred.ts';
import { createLogger } from '../../../../../shared/runtime/logging.ts';
import { ScriptedTasks } from '../../../../integration/http/scripted-tasks.ts';

/** Starts a stream of a task with one batch of entries. @param whenWritable resolves when the client has read */
async function streamOf(batch: JournalEntry[], whenWritable: () => Promise<void> | undefined) {
  const caller = new Caller({
    identity: { principal: 'local' },
    roles: [],
    groups: [],
    signal: new AbortController().signal,
    end: () => 'over',
    whenWritable,
    endAfter: () => undefined,
    trace: undefined,
    becomeStream: () => undefined,
    bodyMemory: { hold: () => undefined, release: () => undefined },
  });
  const log = createLogger({ name: 'test', level: 'silent' });
  const context = new A2aRequestContext({ caller, wire: 'rest', requestedVersion: '1.0', headers: {}, log });
  const tasks = new ScriptedTasks();
  tasks.follow = async function* follow() {
    yield await Promise.resolve(batch);
  };
  const row = await tasks.row(tasks.begin().taskId, caller.requester);
  return streamEventsAfter({ tasks }, { row, after: 0 }, context);
}

test('S3 a stream keeps no batch of entries for a client that does not read for a second', async () => {
  jest.useFakeTimers();
  const read = new Deferred<void>();
  let full: Promise<void> | undefined;
  const batch: JournalEntry[] = [1, 2, 3].map((seq) => ({ seq, at: 1, event: { type: 'task.working' } }));
  const events = await streamOf(batch, () => full);
  await events.next();
  full = read.promise;
  const next = events.next();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(batch.map(({ seq }) => seq)).toEqual([1]);
  read.resolve();
  expect(await next).toEqual({ done: true, value: undefined });
  jest.useRealTimers();
});
