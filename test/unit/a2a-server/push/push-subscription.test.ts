import { expect, test } from '@jest/globals';
import {
  nextPushAttemptTime,
  pushDeliveryAfterFailure,
  type PushDeliveryState,
  recordNamePrefixOfTask,
  notificationHeaders,
  subscriptionRecordName,
} from '../../../../a2a-server/push/push-subscription.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

test('attempts come after doubling delays of at most ten minutes, and end after a day of failures', () => {
  let delivery: PushDeliveryState = { type: 'active' };
  let now = 1_000_000;
  const begun = now;
  const delays: number[] = [];
  for (;;) {
    delivery = pushDeliveryAfterFailure(delivery, 'HTTP 500', now);
    if (delivery.type !== 'retrying') break;
    delays.push(delivery.at - now);
    now = delivery.at;
  }
  expect(delays.slice(0, 5)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
  expect(Math.max(...delays)).toBe(10 * MINUTE);
  expect(delays).toEqual(delays.toSorted((one, other) => one - other));
  expect(delivery).toEqual({ type: 'dead', since: begun, at: now, problem: 'HTTP 500' });
  expect(now - begun).toBeGreaterThanOrEqual(DAY);
  expect(now - begun).toBeLessThan(DAY + 11 * MINUTE);
});

test('a long sleep of the machine does not end the attempts', () => {
  const failed = pushDeliveryAfterFailure({ type: 'active' }, 'away', 0);
  expect(pushDeliveryAfterFailure(failed, 'away', 3 * DAY)).toMatchObject({ type: 'retrying', attempts: 2 });
});

test('a delivery waits for its next attempt, unless the clock has gone back', () => {
  const failed = pushDeliveryAfterFailure({ type: 'active' }, 'away', DAY);
  expect([-500, 0, 999, 1_000].map((after) => nextPushAttemptTime(failed, DAY + after))).toEqual([
    DAY + 1_000,
    DAY + 1_000,
    DAY + 1_000,
    undefined,
  ]);
  expect(nextPushAttemptTime(failed, DAY - 60 * MINUTE)).toBeUndefined();
  expect(nextPushAttemptTime({ type: 'active' }, DAY)).toBeUndefined();
});

test('a success between failures starts the count again', () => {
  const failed = pushDeliveryAfterFailure({ type: 'active' }, 'away', 0);
  expect(pushDeliveryAfterFailure(failed, 'away', 1_000)).toMatchObject({ attempts: 2, since: 0 });
  expect(pushDeliveryAfterFailure({ type: 'active' }, 'away', 5_000)).toMatchObject({
    attempts: 1,
    since: 5_000,
    at: 6_000,
  });
});

test('the name of a record depends on the principal, the task and the id, and their order', () => {
  const names = [
    subscriptionRecordName('ann', 'task', 'id'),
    subscriptionRecordName('ann', 'id', 'task'),
    subscriptionRecordName('bob', 'task', 'id'),
    subscriptionRecordName('ann', 'task-i', 'd'),
  ];
  expect(new Set(names).size).toBe(4);
  for (const name of names) expect(name).toMatch(/^[a-z0-9-]{1,64}$/);
  expect(subscriptionRecordName('ann', 'task', 'id').startsWith(recordNamePrefixOfTask('task'))).toBe(true);
});

test.each([
  ['no authentication', null, 'Bearer signed'],
  ['a bearer token', { scheme: 'Bearer', credentials: 'a secret' }, 'Bearer a secret'],
  ['a bearer token without credentials', { scheme: 'bearer', credentials: '' }, 'bearer signed'],
  ['another scheme without credentials', { scheme: 'Basic', credentials: '' }, 'Basic'],
])('with %s, the header Authorization is right', (_what, authentication, authorization) => {
  expect(notificationHeaders({ token: '', wire: '1.0', authentication }, 'signed')).toEqual({
    'content-type': 'application/a2a+json',
    authorization,
    'x-a2a-notification-signature': 'signed',
  });
});
