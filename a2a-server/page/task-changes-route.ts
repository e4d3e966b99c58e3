/**
 * `GET /page/api/task-changes` sends a server-sent event when a task that the caller may see has changed, and one event
 * at the start. If the server may have missed changes by other servers, it sends an event too. Each event has only
 * `{}`: the page then reads the list again. So a reader that was disconnected needs no cursor.
 */
import { Router } from 'express';
import { onAbort } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { delay } from '../runtime/timeout.ts';
import type { Requester } from '../access/requester.ts';
import type { TaskService } from '../executor/task-service.ts';
import { callerOf } from '../http/auth/caller.ts';
import { startSseResponse } from '../http/streams/sse.ts';
import type { TaskChangeNotifier } from './task-change-notifier.ts';

/** The shortest time between two events, in milliseconds. A model's text causes many appends per second. */
const PAUSE_MS = 1_000;

interface ChangesOptions {
  tasks: Pick<TaskService, 'row'>;
  changes: TaskChangeNotifier;
  clock: Clock;
  heartbeatMs: number;
}

export function taskChangesRoute({ tasks, changes, clock, heartbeatMs }: ChangesOptions): Router {
  const router = Router();
  router.get('/task-changes', async (request, response) => {
    // RFC 9110 §9.3.2: the response to HEAD has the headers of the stream and no body.
    if (request.method === 'HEAD') {
      response.type('text/event-stream').end();
      return;
    }
    const { requester, signal, becomeStream } = callerOf(request);
    becomeStream();
    const changed: { tasks: Set<string> | 'unknown' } = { tasks: new Set() };
    let wake: (() => void) | undefined;
    const stopWatching = changes.listen((noted) => {
      if (noted === 'unknown') changed.tasks = 'unknown';
      else if (changed.tasks !== 'unknown') for (const taskId of noted) changed.tasks.add(taskId);
      wake?.();
    });
    const stopListening = onAbort(signal, () => wake?.());
    const writer = startSseResponse(response, { heartbeatMs });
    const nextChange = (): Promise<void> => new Promise((resolve) => (wake = resolve));
    try {
      writer.send({ data: '{}' });
      while (!signal.aborted) {
        if (changed.tasks !== 'unknown' && changed.tasks.size === 0) await nextChange();
        const noted = changed.tasks;
        changed.tasks = new Set();
        if (noted !== 'unknown' && !(await reachesOne(tasks, requester, noted))) continue;
        writer.send({ data: '{}' });
        // An abort ends this pause early, and then the loop ends.
        await delay(clock, PAUSE_MS, signal).catch(() => undefined);
      }
    } finally {
      stopWatching();
      stopListening();
      writer.end();
    }
  });
  return router;
}

/** X1: a task to which the requester has no access causes no event. */
async function reachesOne(
  tasks: Pick<TaskService, 'row'>,
  requester: Requester,
  taskIds: ReadonlySet<string>,
): Promise<boolean> {
  for (const taskId of taskIds) {
    try {
      await tasks.row(taskId, requester);
      return true;
    } catch (error) {
      if (!(error instanceof ProductError && error.reason === 'UNKNOWN_TASK')) throw error;
    }
  }
  return false;
}
