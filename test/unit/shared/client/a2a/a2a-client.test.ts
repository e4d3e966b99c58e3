import { describe, expect, test } from '@jest/globals';
import { A2aClient } from '../../../../../shared/client/a2a/a2a-client.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../../../../shared/protocol/extensions.ts';
import { CountingTarget } from '../core/counting-page.ts';

interface Asked {
  url: string;
  init: RequestInit;
}

/** Simulates an agent that opens a stream for each message. The test writes the stream's events. */
function agent() {
  const asked: Asked[] = [];
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  const fetch: typeof globalThis.fetch = (input, init = {}) => {
    const url = input instanceof Request ? input.url : input.toString();
    asked.push({ url, init });
    if (!url.endsWith('/message:stream')) return Promise.resolve(Response.json({}));
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (stream = controller) });
    return Promise.resolve(new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }));
  };
  return {
    asked,
    fetch,
    /** Sends the task's id on the stream. */
    name: (): void => {
      const metadata = { [RESUMABLE_STREAM_EXTENSION]: { seq: 1 } };
      const task = { id: 'task 1', contextId: 's', status: { state: 'TASK_STATE_WORKING' }, metadata };
      stream?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ task })}\n\n`));
    },
  };
}

/** A `fetch` that never gets a response. It counts its requests. */
function silentAgent() {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = (input, { signal } = {}) => {
    asked.push(input instanceof Request ? input.url : input.toString());
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  };
  return { asked, fetch };
}

describe('an agent that accepts the connection and never answers', () => {
  const retryPolicy = { attempts: 2, firstMs: 1, mostMs: 1 };

  test.each([
    ['a list', (client: A2aClient) => client.tools()],
    ['a task to follow', (client: A2aClient) => client.attach({ taskId: 'task' }).result],
  ])('the request for %s is sent again after the quiet time, and then fails', async (_, ask) => {
    const { asked, fetch } = silentAgent();
    const client = new A2aClient({ url: 'http://agent', fetch, retryPolicy, quietMs: 5 });
    await expect(ask(client)).rejects.toMatchObject({ code: 'unreachable' });
    expect(asked).toHaveLength(2);
  });

  test('a client that detaches does not wait for the quiet time', async () => {
    const { fetch } = silentAgent();
    const client = new A2aClient({ url: 'http://agent', fetch, quietMs: 3_600_000 });
    const execution = client.attach({ taskId: 'task' });
    execution.detach();
    await expect(execution.result).rejects.toMatchObject({ code: 'detached' });
  });
});

describe('an A2A client in a page', () => {
  test('R51 on unload, the client cancels the task with a request that outlives the page and has the token only in a header', async () => {
    const page = new CountingTarget();
    const { asked, fetch, name } = agent();
    const client = new A2aClient({ url: 'http://agent/', token: () => 'secret', fetch, page });
    const named = new Promise<void>((resolve) => {
      client.start({ text: 'x' }, { onUnload: 'cancel', onProgress: () => resolve() });
    });
    while (asked.length === 0) await Promise.resolve();
    name();
    await named;
    expect(page.listening('pagehide')).toBe(1);
    page.dispatchEvent(new Event('pagehide'));
    // The request must be sent in the same tick, because an unloading page does not wait.
    const { url, init } = asked.at(-1) ?? { url: '', init: {} };
    expect(url).toBe('http://agent/tasks/task%201:cancel');
    expect(init).toMatchObject({
      method: 'POST',
      keepalive: true,
      credentials: 'omit',
      headers: { Authorization: 'Bearer secret', 'A2A-Version': '1.0' },
    });
    expect(asked.map((each) => each.url).join()).not.toContain('secret');
    expect(page.listening('pagehide')).toBe(0);
    for (const execution of client.active) execution.detach();
  });

  test('R51 in a restored page, the client cancels a task as soon as its id is known', async () => {
    const page = new CountingTarget();
    const { asked, fetch, name } = agent();
    const client = new A2aClient({ url: 'http://agent', fetch, page });
    const named = new Promise<void>((resolve) => {
      client.start({ text: 'x' }, { onUnload: 'cancel', onProgress: () => resolve() });
    });
    while (asked.length === 0) await Promise.resolve();
    page.dispatchEvent(Object.assign(new Event('pagehide'), { persisted: true }));
    expect(asked).toHaveLength(1);
    name();
    await named;
    while (asked.length === 1) await Promise.resolve();
    expect(asked.at(-1)?.url).toBe('http://agent/tasks/task%201:cancel');
    for (const execution of client.active) execution.detach();
  });
});
