import { expect, test } from '@jest/globals';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { RedeliveryStore } from '../../../../../bridge/transports/http/redelivery-store.ts';

const BEGINNING: JSONRPCMessage = JSON.parse('{}');
const message = (text: string): JSONRPCMessage => ({ jsonrpc: '2.0', method: text });

async function replayed(events: RedeliveryStore, after: string): Promise<unknown[]> {
  const sent: unknown[] = [];
  await events.replayEventsAfter(after, { send: (_, each) => Promise.resolve(void sent.push(each)) });
  return sent;
}

test('a stream replays the events after a given event, in order, and no event of another stream', async () => {
  const events = new RedeliveryStore();
  const first = await events.storeEvent('a', BEGINNING);
  await events.storeEvent('b', BEGINNING);
  const one = await events.storeEvent('a', message('one'));
  await events.storeEvent('b', message('other'));
  await events.storeEvent('a', message('two'));
  expect(await replayed(events, first)).toEqual([message('one'), message('two')]);
  expect(await replayed(events, one)).toEqual([message('two')]);
});

test('X3 the number and the size of the events are limited; the oldest are dropped, and their ids become unknown (S2)', async () => {
  const events = new RedeliveryStore();
  const oldest = await events.storeEvent('a', message('oldest'));
  const ids = [];
  for (let n = 0; n < 500; n += 1) ids.push(await events.storeEvent('a', message(String(n))));
  expect(await events.getStreamIdForEventId(oldest)).toBeUndefined();
  await expect(replayed(events, oldest)).rejects.toThrow('not known');
  expect(await events.getStreamIdForEventId(ids[0] ?? '')).toBe('a');
  const huge = await events.storeEvent('b', message('x'.repeat(3_000_000)));
  expect(await events.getStreamIdForEventId(ids.at(-1) ?? '')).toBeUndefined();
  expect(await events.getStreamIdForEventId(huge)).toBe('b');
});

test('the store deletes only the stream of a cancelled request', async () => {
  const events = new RedeliveryStore();
  const [a, b] = await Promise.all(
    [1, 2].map((request) =>
      events.during(request, async () => {
        await Promise.resolve();
        return events.storeEvent(`stream-${request}`, BEGINNING);
      }),
    ),
  );
  events.forget(1);
  expect(await events.getStreamIdForEventId(a ?? '')).toBeUndefined();
  expect(await events.getStreamIdForEventId(b ?? '')).toBe('stream-2');
});

test('a response stream belongs to its request until its response is dropped, after any number of events', async () => {
  const events = new RedeliveryStore();
  await events.during(7, () => events.storeEvent('a', BEGINNING));
  const drop = async () => {
    const ids = [];
    for (let n = 0; n < 500; n += 1) ids.push(await events.storeEvent('b', message('other')));
    return ids.at(-1) ?? '';
  };
  const unmapped = await drop();
  const later = await events.storeEvent('a', message('progress'));
  expect(events.streamOf(later)).toEqual({ type: 'response', request: 7 });
  expect(events.streamOf(unmapped)).toBeUndefined();
  await events.storeEvent('a', { jsonrpc: '2.0', id: 7, result: {} });
  await drop();
  const afterAnswer = await events.storeEvent('a', message('late'));
  expect(events.streamOf(afterAnswer)).toBeUndefined();
});

test('the stream of a cancelled request is deleted, even if its first event is dropped', async () => {
  const events = new RedeliveryStore();
  await events.during(1, () => events.storeEvent('a', BEGINNING));
  for (let n = 0; n < 500; n += 1) await events.storeEvent('b', message('other'));
  const progress = await events.storeEvent('a', message('progress'));
  events.forget(1);
  expect(await events.getStreamIdForEventId(progress)).toBeUndefined();
});
