/**
 * Tests the route for EventSource clients. It needs no A2A header, and the cursor is in the URL or in
 * `Last-Event-ID`.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { EventSource } from 'eventsource';
import { z } from 'zod';
import { RESUMABLE_STREAM_EXTENSION } from '../../../shared/protocol/resumable-stream-extension.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { callRequested, PENDING } from '../../unit/a2a-server/http/samples.ts';
import { openStream, streamOf } from './event-source.ts';
import { TURN } from './scripted-tasks.ts';
import type { Streamed } from './event-source.ts';
import { OTHER_TOKEN, request, startServer, TOKEN } from './test-server.ts';
import type { TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => (server = await startServer({ heartbeatMs: 25 })));

const ENDED: TaskEvent = { type: 'task.completed' };

const newTask = (events: TaskEvent[] = []): string => server.tasks.begin(events).taskId;

const pathOf = (taskId: string): string => `/api/tasks/${taskId}/events`;
const seqs = (events: readonly Streamed[]): number[] => events.map(({ id }) => Number(id));

/** Sends a request as curl does, with a URL and a token. */
function read(taskId: string, { query = '', headers = {} }: { query?: string; headers?: object } = {}) {
  return fetch(`${server.url}${pathOf(taskId)}${query}`, {
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
  });
}

describe('the event route GET /tasks/{id}/events', () => {
  test('R25 without a cursor the route sends all events, each with its seq as the SSE id', async () => {
    const events = await streamOf(await read(newTask([...TURN, ENDED])));
    // Seq 2 is the sender's own message, which clients do not get.
    expect(seqs(events)).toEqual([1, 3, 4, 5, 6, 7, 8]);
    expect(events.map(({ kind }) => kind)).toEqual([
      'statusUpdate',
      'statusUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    for (const { id, payload } of events)
      expect(payload).toMatchObject({ metadata: { [RESUMABLE_STREAM_EXTENSION]: { seq: Number(id) } } });
  });

  test('S1 the route’s events equal those of HTTP+JSON with both extensions, byte for byte', async () => {
    const taskId = newTask([
      ...TURN,
      callRequested({ type: 'ask' }),
      { type: 'input.required', pending: [PENDING] },
      ENDED,
    ]);
    const plain = await streamOf(await read(taskId));
    const rest = await streamOf(
      await openStream(server, {
        path: `/tasks/${taskId}:subscribe`,
        headers: {
          'a2a-extensions': `${TOOL_APPROVAL_EXTENSION},${RESUMABLE_STREAM_EXTENSION}`,
          'last-event-id': '0',
        },
      }),
    );
    expect(plain).toEqual(rest);
    expect(JSON.stringify(plain)).toContain(PENDING.shown);
  });

  test.each(['?after=', 'Last-Event-ID: '])(
    'S1 R25 for every cut, the rest of the events follows after %s<seq>',
    async (how) => {
      const taskId = newTask([...TURN, ENDED]);
      const whole = await streamOf(await read(taskId));
      for (let cut = 0; cut < 8; cut++) {
        const rest = await read(
          taskId,
          how.startsWith('?') ? { query: `?after=${cut}` } : { headers: { 'last-event-id': String(cut) } },
        );
        expect(await streamOf(rest)).toEqual(whole.filter(({ id }) => Number(id) > cut));
      }
    },
  );

  test('S1 the cursor in the header has priority over the one in the URL, because a reconnecting EventSource sends both', async () => {
    const taskId = newTask([...TURN, ENDED]);
    const events = await streamOf(
      await read(taskId, { query: '?after=1', headers: { 'last-event-id': '6' } }),
    );
    expect(seqs(events)).toEqual([7, 8]);
  });

  test('the stream stays open while the task waits, and ends with the task', async () => {
    const taskId = newTask([...TURN, { type: 'input.required', pending: [] }]);
    const opened = await read(taskId);
    const events = streamOf(opened);
    await server.tasks.untilFollowed(taskId);
    server.tasks.append(taskId, [{ type: 'task.working' }]);
    server.tasks.append(taskId, [ENDED]);
    expect(seqs(await events)).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('the stream first sends the reconnection delay, and then heartbeats while no event occurs', async () => {
    const taskId = newTask();
    const reader = (await read(taskId, { query: '?after=2' })).body
      ?.pipeThrough(new TextDecoderStream())
      .getReader();
    let text = '';
    while ((text.match(/^:\n\n/gm) ?? []).length < 2) text += (await reader?.read())?.value ?? '';
    expect(text.startsWith('retry: 2000\n\n')).toBe(true);
    await reader?.cancel();
    await server.tasks.untilLeft(taskId);
  });

  test('a cursor at the end of an ended task gets 204, so that the client does not reconnect', async () => {
    const taskId = newTask([...TURN, ENDED]);
    expect((await read(taskId, { headers: { 'last-event-id': '8' } })).status).toBe(204);
    expect((await read(taskId, { query: '?after=8' })).status).toBe(204);
  });

  test.each(['-1', '9', '9999999999999999999999', 'x', '1.5', '0x1', '', '1e0'])(
    'R26 S2 an invalid cursor %p is refused, in the URL and in the header',
    async (cursor) => {
      const taskId = newTask([...TURN, ENDED]);
      for (const how of [
        { query: `?after=${encodeURIComponent(cursor)}` },
        { headers: { 'last-event-id': cursor } },
      ]) {
        const answer = await read(taskId, how);
        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({
          error: { details: [{ metadata: { reason: 'INVALID_CURSOR', last: '8' } }] },
        });
      }
      expect(server.tasks.following).toBe(0);
    },
  );

  test.each(['?afer=3', '?after=1&after=2', '?after[x]=1', '?Last-Event-ID=3', '?_=1'])(
    'S2 the query %s is refused, because its cursor is not clear',
    async (query) => {
      const answer = await read(newTask(TURN), { query });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('MALFORMED');
    },
  );

  test('X1 a task of another principal gets the same error as an unknown task', async () => {
    const taskId = newTask(TURN);
    const answers = await Promise.all(
      [taskId, 'task-none', '..%2f..', '%00'].map(async (id) => {
        const answer = await read(id, { headers: { authorization: `Bearer ${OTHER_TOKEN}` } });
        return { status: answer.status, text: (await answer.text()).replace(/no task [^".]+/, 'no task …') };
      }),
    );
    expect(answers[0]).toMatchObject({ status: 404, text: expect.stringContaining('UNKNOWN_TASK') });
    expect(answers[1]).toEqual(answers[0]);
    for (const { status } of answers) expect(status).toBe(404);
  });

  test('HEAD returns only the headers, and opens no stream', async () => {
    const answer = await fetch(`${server.url}${pathOf(newTask(TURN))}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(await answer.text()).toBe('');
    expect(server.tasks.following).toBe(0);
  });

  test('R49 the stream stays open while the server finishes its work, and ends with the other streams', async () => {
    const taskId = newTask(TURN);
    server.setClosing(true);
    const opened = await read(taskId);
    expect((await request(server, { method: 'GET', path: `/tasks/${taskId}` })).status).toBe(503);
    server.reading.abort('server-shutdown');
    expect(seqs(await streamOf(opened)).at(-1)).toBe(7);
    expect(server.tasks.following).toBe(0);
    // A new client must get 200 and a reconnection delay. After any other status an EventSource never reconnects.
    expect(await (await read(taskId)).text()).toBe('retry: 2000\n\n');
  });

  test('only browser pages from the operator’s list of origins may read the route', async () => {
    const origin = 'https://console.example';
    const open = await startServer({ allowedHosts: { publicHosts: [], origins: [origin] } });
    const { taskId } = open.tasks.begin([ENDED]);
    const asked = (from: string) =>
      fetch(`${open.url}${pathOf(taskId)}`, { headers: { authorization: `Bearer ${TOKEN}`, origin: from } });
    const answer = await asked(origin);
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('vary')).toContain('Origin');
    const other = await asked('https://evil.example');
    expect(other.status).toBe(403);
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });
});

interface Heard {
  ids: string[];
  source: EventSource;
  /** Resolves with the last status when the EventSource stops reconnecting. */
  over: Promise<number | undefined>;
  until: (id: string) => Promise<void>;
}

/** Simulates an EventSource outside a browser. */
function listen(url: string, headers: Record<string, string> = {}): Heard {
  const ids: string[] = [];
  const source = new EventSource(url, {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...headers } }),
  });
  const looks = new Set<() => void>();
  source.addEventListener('message', ({ lastEventId }) => {
    ids.push(lastEventId);
    for (const look of looks) look();
  });
  const over = new Promise<number | undefined>((resolve) => {
    source.addEventListener('error', ({ code }) => {
      if (source.readyState === EventSource.CLOSED) resolve(code);
    });
  });
  const until = (id: string) =>
    new Promise<void>((resolve) => {
      looks.add(() => ids.includes(id) && resolve());
      if (ids.includes(id)) resolve();
    });
  return { ids, source, over, until };
}

function withTicket(taskId: string, ticket: string): Promise<Response> {
  return fetch(`${server.url}${pathOf(taskId)}?ticket=${encodeURIComponent(ticket)}`);
}

describe('a stream ticket', () => {
  const HOUR = 60 * 60_000;

  test('X1 a ticket opens the stream of its task for an hour; then the stream ends, and the ticket is refused', async () => {
    const taskId = newTask(TURN);
    const ticket = await ticketFor(taskId);
    server.clock.advance(HOUR / 2);
    const opened = await withTicket(taskId, ticket);
    expect(opened.status).toBe(200);
    await server.tasks.untilFollowed(taskId);
    server.clock.advance(HOUR / 2);
    expect(seqs(await streamOf(opened)).at(-1)).toBe(7);
    expect(server.logged()).not.toContain(ticket);
    const late = await withTicket(taskId, ticket);
    expect(late.status).toBe(401);
    expect(await late.text()).toContain('UNAUTHENTICATED');
    expect(server.clock.pending).toBe(0);
  });

  test('X1 a ticket opens no other task, of the same principal or another', async () => {
    const taskId = newTask(TURN);
    const ticket = await ticketFor(taskId);
    const message = { messageId: 'm-2', parts: [] };
    const foreign = server.tasks.start({ principal: 'other', channel: 'a2a', message }).taskId;
    for (const id of [newTask(TURN), foreign, 'task-none', `${taskId}x`, taskId.toUpperCase()])
      expect((await withTicket(id, ticket)).status).toBe(401);
    // A ticket of another principal must not open this stream.
    expect((await withTicket(taskId, await ticketFor(foreign, OTHER_TOKEN))).status).toBe(401);
  });

  test('X1 a ticket is issued only for a task of the caller, and only to a request with a token', async () => {
    const taskId = newTask(TURN);
    const ticket = await ticketFor(taskId);
    const path = `${pathOf(taskId)}/ticket`;
    expect(
      await request(server, { path, headers: { authorization: `Bearer ${OTHER_TOKEN}` } }),
    ).toMatchObject({
      status: 404,
      text: expect.stringContaining('UNKNOWN_TASK'),
    });
    for (const authorization of [undefined, `Bearer ${ticket}`, ticket])
      for (const query of ['', `?ticket=${ticket}`])
        expect((await request(server, { path: path + query, headers: { authorization } })).status).toBe(401);
    const answer = await request(server, { path });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['GET', '/tasks/:id'],
    ['GET', '/tasks/:id:subscribe'],
    ['POST', '/tasks/:id:cancel'],
    ['POST', '/api/tasks/:id/events'],
    ['DELETE', '/api/tasks/:id/events'],
    ['GET', '/api/tasks/:id/events/ticket'],
    ['GET', '/v1/tasks/:id'],
    ['GET', '/tasks'],
    ['GET', '/health'],
    ['POST', '/'],
    ['POST', '/message:send'],
    ['POST', '/api/tools/abort/tool-1'],
  ])('X1 a ticket gives no access to %s %s', async (method, path) => {
    const taskId = newTask(TURN);
    const ticket = await ticketFor(taskId);
    const address = `${path.replace(':id', taskId)}?ticket=${ticket}`;
    for (const authorization of [undefined, `Bearer ${ticket}`]) {
      const answer = await request(server, { method, path: address, headers: { authorization } });
      expect(answer.status).toBe(401);
    }
  });

  test('X1 a ticket is refused if any character is changed, or if it is not a ticket', async () => {
    const taskId = newTask(TURN);
    const ticket = await ticketFor(taskId);
    const [seconds = '', mac = ''] = ticket.split('.');
    const others = ticket.split('').map((char, n) => {
      return `${ticket.slice(0, n)}${char === 'A' ? 'B' : 'A'}${ticket.slice(n + 1)}`;
    });
    const none = [
      '',
      '.',
      mac,
      `${seconds}.`,
      `.${mac}`,
      `0${ticket}`,
      `${ticket}A`,
      `${ticket}=`,
      ` ${ticket}`,
      `${ticket}\n`,
      `${Number(seconds) + 3600}.${mac}`,
      `9${seconds}.${mac}`,
      TOKEN,
      'x'.repeat(6_000),
    ];
    // The last base64 letter has two unused bits. The server must also refuse a ticket that differs only in these
    // bits.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('');
    const twins = alphabet.map((char) => ticket.slice(0, -1) + char).filter((it) => it !== ticket);
    for (const wrong of [...others, ...none, ...twins])
      expect({ wrong, status: (await withTicket(taskId, wrong)).status }).toEqual({ wrong, status: 401 });
    const twice = await fetch(`${server.url}${pathOf(taskId)}?ticket=${ticket}&ticket=${ticket}`);
    expect(twice.status).toBe(401);
    expect(server.tasks.following).toBe(0);
  });

  test('X1 a wrong ticket is refused, even together with a valid token', async () => {
    const taskId = newTask(TURN);
    expect((await read(taskId, { query: '?ticket=0.x' })).status).toBe(401);
    // Without valid credentials, the answer reveals no other error of the request.
    const query = '?afer=3';
    expect((await fetch(`${server.url}${pathOf(taskId)}${query}`)).status).toBe(401);
  });

  test('X1 a ticket is never logged, whether the request succeeds or fails', async () => {
    const taskId = newTask(TURN);
    const ticket = await ticketFor(taskId);
    server.tasks.failAfter(taskId, 3);
    const broken = await withTicket(taskId, ticket);
    server.tasks.append(taskId, [ENDED]);
    expect(await broken.text()).toContain('STORAGE');
    await withTicket('task-none', ticket);
    expect(server.logged()).toContain('a request failed');
    expect(server.logged()).not.toContain(ticket.slice(-20));
  });
});

describe('an EventSource', () => {
  test('R25 an EventSource reconnects with its cursor after a cut, and stops after the last event', async () => {
    const taskId = newTask(TURN);
    const { ids, over, until } = listen(`${server.url}${pathOf(taskId)}`, {
      authorization: `Bearer ${TOKEN}`,
    });
    await until('7');
    server.cut();
    await server.tasks.untilLeft(taskId);
    server.tasks.append(taskId, [ENDED]);
    // After the last event the EventSource reconnects once, gets 204, and stops.
    expect(await over).toBe(204);
    expect(ids).toEqual(['1', '3', '4', '5', '6', '7', '8']);
  });

  test('a browser’s EventSource sends no token, and reads with a ticket', async () => {
    const taskId = newTask(TURN);
    const { ids, over, until } = listen(
      `${server.url}${pathOf(taskId)}?ticket=${await ticketFor(taskId)}&after=5`,
    );
    await until('7');
    server.tasks.append(taskId, [ENDED]);
    expect(await over).toBe(204);
    expect(ids).toEqual(['6', '7', '8']);
  });
});

const issued = z.strictObject({ ticket: z.string(), expiresAt: z.iso.datetime() });

async function ticketFor(taskId: string, token = TOKEN): Promise<string> {
  const answer = await request(server, {
    path: `${pathOf(taskId)}/ticket`,
    headers: { authorization: `Bearer ${token}` },
  });
  return issued.parse(answer.body).ticket;
}
