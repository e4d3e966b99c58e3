/** The bodies of push notifications: a `StreamResponse` each (A2A 1.0 §4.3.3). */
import { StreamResponse } from '@a2a-js/sdk';
import type { PushBodies } from '../../push/deliveries.ts';
import type { Subscription } from '../../push/subscription.ts';
import { toStreamResponse } from '../wire/event-projection.ts';
import { toA2aTask } from '../wire/task-projection.ts';
import type { ClientView } from '../wire/wire-objects.ts';

export const pushBodies: PushBodies = {
  ofTask: (snapshot, subscription) =>
    textOf({ payload: { $case: 'task', value: toA2aTask(snapshot, viewOf(subscription), {}) } }),
  ofEntry(entry, subscription) {
    const event = toStreamResponse(entry, viewOf(subscription));
    return event && textOf(event);
  },
};

function textOf(event: StreamResponse): string {
  return JSON.stringify(StreamResponse.toJSON(event));
}

function viewOf({ taskId, sessionId, approval, resumable }: Subscription): ClientView {
  return { taskId, sessionId, approval, resumable };
}
