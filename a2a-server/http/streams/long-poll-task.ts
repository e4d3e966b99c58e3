/**
 * Implements the long-poll of GetTask (A2A 1.1, the branch `dev-1.1`, §3.2.7): the answer waits until the task has more
 * events than the generation that the client names (see `task/generation.ts`). The server also answers when the task has
 * ended, when the time limit is over, and when it shuts down.
 */
import type { TaskService } from '../../executor/task-service.ts';
import { eventCountAfterAll, generationOf, type EventCount } from '../../task/generation.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import type { A2aRequestContext } from '../auth/a2a-request-context.ts';
import type { DisconnectHandler } from './on-disconnect.ts';

/** The time limit of a long-poll. It is shorter than the usual time limit of clients and proxies, which is 60 s. */
export const LONG_POLL_MS = 30_000;

/**
 * Returns the task. If the client names a generation (a number of events), first waits until the task has more events
 * than that.
 */
export async function waitForNewGeneration(
  { tasks, disconnects }: { tasks: TaskService; disconnects: DisconnectHandler },
  taskId: string,
  context: A2aRequestContext,
): Promise<Snapshot> {
  const { requester, signal } = context.caller;
  const snapshot = await tasks.snapshot(taskId, requester);
  const { current } = context.generations;
  if (current === undefined) return snapshot;
  const isBeyond = (counted: EventCount): boolean => generationOf(counted, context.sight) > current;
  if (isBeyond(snapshot.counted)) return snapshot;
  context.caller.becomeStream();
  context.caller.endAfter(LONG_POLL_MS);
  const ends = disconnects.reads(taskId);
  try {
    let { counted } = snapshot;
    for await (const entries of tasks.follow(taskId, snapshot.seq, { until: 'ended', signal })) {
      counted = eventCountAfterAll(counted, entries);
      if (isBeyond(counted)) break;
    }
    return await tasks.snapshot(taskId, requester);
  } finally {
    ends(context.caller.end());
  }
}
