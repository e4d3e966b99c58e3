/** Tests files in messages over the bindings of A2A 1.0 and 0.3, and the route for their contents. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { PNG } from '../../support/sample-files.ts';
import {
  OTHER_TOKEN,
  request,
  rpc,
  startServer,
  TOKEN,
  userMessage,
  type TestServer,
} from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});

const raw = PNG.toString('base64');
/** Requests an immediate answer, because no task of this server ends. */
const AT_ONCE = { configuration: { returnImmediately: true } };
const STORED = { type: 'stored-file', file: { mediaType: 'image/png', bytes: PNG.length, name: 'dot.png' } };

describe('a message with a file', () => {
  const parts = [{ text: 'What is this?' }, { raw, filename: 'dot.png', mediaType: 'image/png' }];

  test('a message brings the file’s bytes to the task over JSON-RPC and HTTP+JSON of A2A 1.0', async () => {
    const { message } = userMessage('');
    await rpc(server, 'SendMessage', { message: { ...message, parts }, ...AT_ONCE });
    await request(server, {
      path: '/message:send',
      body: JSON.stringify({ message: { ...message, messageId: 'other', parts }, ...AT_ONCE }),
    });
    for (const incoming of server.tasks.received) {
      expect(incoming.message.parts[1]).toMatchObject(STORED);
      expect(incoming.contents?.[0]?.bytes).toEqual(PNG);
    }
    expect(server.tasks.received).toHaveLength(2);
  });

  test('a message brings the same bytes over JSON-RPC of A2A 0.3', async () => {
    const file = { kind: 'file', file: { bytes: raw, name: 'dot.png', mimeType: 'image/png' } };
    const message = {
      kind: 'message',
      messageId: 'm',
      role: 'user',
      parts: [{ kind: 'text', text: 'hi' }, file],
    };
    await rpc(
      server,
      'message/send',
      { message, configuration: { blocking: false } },
      { 'a2a-version': '0.3' },
    );
    const [incoming] = server.tasks.received;
    expect(incoming?.message.parts[1]).toMatchObject(STORED);
    expect(incoming?.contents?.[0]?.bytes).toEqual(PNG);
  });

  test('a message with a file has a line for the file in the task’s history', async () => {
    const { message } = userMessage('');
    await rpc(server, 'SendMessage', {
      message: { ...message, parts },
      ...AT_ONCE,
    });
    const answer = await rpc(server, 'GetTask', { id: 'task-1' });
    expect(answer.body).toMatchObject({
      result: {
        history: [{ parts: [{ text: 'What is this?' }, { text: '[file dot.png, image/png, 70 bytes]' }] }],
      },
    });
  });
});

describe('X1 the download of a file’s content', () => {
  const path = '/api/tasks/task-1/files/abc';
  beforeEach(async () => {
    await rpc(server, 'SendMessage', { ...userMessage('hello'), ...AT_ONCE });
    server.tasks.files.set('abc', { mediaType: 'image/png', bytes: PNG });
  });

  const get = (token: string, address = path): Promise<Response> =>
    fetch(`${server.url}${address}`, { headers: { authorization: `Bearer ${token}` } });

  test('the download has the file’s type, and headers that stop a browser from guessing the type or running the content', async () => {
    const answer = await get(TOKEN);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': 'attachment',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(PNG);
  });

  test('only the task’s principal can download the content; without a token or with another hash there is no content', async () => {
    expect((await fetch(`${server.url}${path}`)).status).toBe(401);
    expect((await get(OTHER_TOKEN)).status).toBe(404);
    expect((await get(TOKEN, '/api/tasks/task-1/files/other')).status).toBe(404);
  });
});
