/**
 * The bodies of push notifications. A2A 1.0 §4.3.3: each is a `StreamResponse`. A2A 0.3 defines no body. Its receivers,
 * including those in the SDKs, expect a `Task`.
 */
import { StreamResponse } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import type { PushBodies } from '../../push/next-posts.ts';
import type { Subscription } from '../../push/subscription.ts';
import { toStreamResponse } from '../wire/event-projection.ts';
import { toA2aTask } from '../wire/task-projection.ts';
import type { ClientView } from '../wire/wire-objects.ts';

const legacy = new V03PushNotificationSerializer();

export const pushBodies: PushBodies = {
  ofTask(snapshot, subscription) {
    const task: StreamResponse = {
      payload: { $case: 'task', value: toA2aTask(snapshot, viewOf(subscription)) },
    };
    return subscription.wire === '0.3' ? legacy.serialize(task).body : textOf(task);
  },
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
