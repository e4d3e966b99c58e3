import { type PushSubscription, pushSubscriptionSchema } from '../../a2a-server/push/push-subscription.ts';

/** A subscription that has delivered nothing yet. */
export function pushSubscription(changes: Partial<PushSubscription> = {}): PushSubscription {
  return pushSubscriptionSchema.parse({
    taskId: 'task-1',
    id: 'mine',
    principal: 'local',
    owner: 'local',
    sessionId: 'session-1',
    url: 'http://127.0.0.1/',
    token: '',
    authentication: null,
    approval: false,
    resumable: false,
    createdAt: 0,
    cursor: null,
    delivery: { type: 'active' },
    lease: null,
    ...changes,
  });
}
