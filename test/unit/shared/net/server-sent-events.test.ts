import { describe, expect, test } from '@jest/globals';
import { serverSentEventsOf } from '../../../../shared/net/server-sent-events.ts';

const NEVER = new AbortController().signal;

interface Source {
  response: Response;
  send: (text: string | Uint8Array) => void;
  end: () => void;
  fail: () => void;
  left: () => boolean;
}

function source(): Source {
  let left = false;
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (sink = controller),
    cancel: () => void (left = true),
  });
  return {
    response: new Response(body),
    send: (text) => sink?.enqueue(typeof text === 'string' ? new TextEncoder().encode(text) : text),
    end: () => sink?.close(),
    fail: () => sink?.error(new TypeError('reset')),
    left: () => left,
  };
}

async function dataOf(response: Response): Promise<string[]> {
  const seen: string[] = [];
  for await (const { data } of serverSentEventsOf(response, { quietMs: 60_000, signal: NEVER }))
    seen.push(data);
  return seen;
}

describe('the events of an SSE stream', () => {
  test('the events are complete for every cut of the bytes, without a partial event at the end', async () => {
    const { response, send, end } = source();
    for (const byte of new TextEncoder().encode('data: für\n\n: alive\n\nid: 2\ndata: zwei\n\ndata: hal'))
      send(Uint8Array.of(byte));
    end();
    expect(await dataOf(response)).toEqual(['für', 'zwei']);
  });

  test('the events end with an error when the connection breaks', async () => {
    const { response, send, fail } = source();
    send('data: one\n\n');
    const reading = dataOf(response);
    fail();
    await expect(reading).rejects.toThrow('reset');
  });

  test('the connection closes when the reader stops', async () => {
    const { response, send, left } = source();
    send('data: one\n\ndata: two\n\n');
    for await (const _ of serverSentEventsOf(response, { quietMs: 60_000, signal: NEVER })) break;
    expect(left()).toBe(true);
  });

  test('the events fail after a silence, and end at once when the signal aborts', async () => {
    const silent = source();
    const quiet = serverSentEventsOf(silent.response, { quietMs: 1, signal: NEVER }).next();
    await expect(quiet).rejects.toThrow('nothing came for 1 ms');
    const other = source();
    const controller = new AbortController();
    const next = serverSentEventsOf(other.response, { quietMs: 60_000, signal: controller.signal }).next();
    controller.abort();
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
    expect([silent.left(), other.left()]).toEqual([true, true]);
  });
});
