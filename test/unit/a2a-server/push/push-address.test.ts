import { afterEach, expect, test } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { postNotification } from '../../../../a2a-server/push/push-address.ts';
import { createHostAllowList } from '../../../../a2a-server/tools/web/allowed-hosts.ts';
import type { ResolveHost } from '../../../../a2a-server/tools/web/resolve-checked-host.ts';
import { fieldOf } from '../../../../shared/runtime/record.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type PushReceiver, pushReceiver } from '../../../support/push-receiver.ts';

let receiver: PushReceiver | undefined;
afterEach(() => receiver?.stop());

/** Posts to a receiver whose host has a name. The function `resolve` is the DNS. */
async function postTo(resolve: ResolveHost) {
  receiver = await pushReceiver();
  const { port } = new URL(receiver.url);
  const clock = new FakeClock();
  const stop = new AbortController();
  const posted = postNotification(
    `http://receiver.test:${port}/`,
    { headers: {}, body: '{}', signal: stop.signal, clock },
    { allowed: createHostAllowList(['receiver.test']), resolve },
  );
  return { posted, clock, stop, notifications: receiver.notifications };
}

test('a name that DNS finds too late fails the post, and nothing is posted later', async () => {
  let find: ((addresses: string[]) => void) | undefined;
  const { posted, clock, notifications } = await postTo(() => new Promise((resolve) => (find = resolve)));
  clock.advance(10_000);
  find?.(['127.0.0.1']);
  await expect(posted).rejects.toThrow('it did not answer within 10 s');
  expect(notifications).toEqual([]);
});

test('a post whose name DNS does not find ends with the server', async () => {
  const { posted, stop, clock } = await postTo(() => new Promise(() => undefined));
  stop.abort();
  await expect(posted).rejects.toThrow('aborted');
  expect(clock.pending).toBe(0);
});

test('a post that has ended leaves no timer, and nothing at the signal of the server', async () => {
  const { posted, stop, clock, notifications } = await postTo(async () => ['127.0.0.1']);
  await posted;
  expect(notifications).toHaveLength(1);
  expect(clock.pending).toBe(0);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  expect(signalsMadeOf(stop.signal)).toBe(0);
});

/** Returns the number of signals of `AbortSignal.any` that Node keeps at this signal. */
function signalsMadeOf(signal: AbortSignal): unknown {
  const kept = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'kDependantSignals',
  );
  return kept === undefined ? 0 : fieldOf(Reflect.get(signal, kept) ?? { size: 0 }, 'size');
}
