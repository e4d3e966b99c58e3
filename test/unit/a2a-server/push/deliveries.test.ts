import { expect, test } from '@jest/globals';
import { Deliveries } from '../../../../a2a-server/push/deliveries.ts';
import { StoredSubscriptions } from '../../../../a2a-server/push/stored-subscriptions.ts';
import { allowedHosts } from '../../../../a2a-server/tools/web/allowed-hosts.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryRecords } from '../../../support/memory-records.ts';

const none = () => Promise.reject(new Error('there is no task'));

/** @returns deliveries whose store answers a listing when the test calls `answer` */
function withSlowStore() {
  let answer: (() => void) | undefined;
  const clock = new FakeClock();
  const records = {
    ...memoryRecords(),
    list: () => new Promise<ReadonlyMap<string, string>>((resolve) => (answer = () => resolve(new Map()))),
  };
  const deliveries = new Deliveries({
    bodies: { ofTask: () => '', ofEntry: () => undefined },
    signer: { sign: none },
    subscriptions: new StoredSubscriptions(records),
    tasks: { row: none, snapshot: none, entries: none },
    clock,
    log: createLogger({ name: 'test', level: 'silent' }),
    addresses: { allowed: allowedHosts([]), resolve: none },
    shared: true,
  });
  return { deliveries, clock, answer: () => answer?.() };
}

test.each(['the first look', 'a later look'])(
  'a stop waits for %s, so the store closes after it',
  async (which) => {
    const { deliveries, clock, answer } = withSlowStore();
    deliveries.start();
    if (which === 'a later look') {
      answer();
      while (clock.pending === 0) await Promise.resolve();
      clock.advance(5_000);
    }
    let stopped = false;
    const stop = deliveries.stop().then(() => (stopped = true));
    await new Promise(setImmediate);
    expect(stopped).toBe(false);
    answer();
    await stop;
    expect(clock.pending).toBe(0);
  },
);
