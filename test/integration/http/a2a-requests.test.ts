/** Tests requests of A2A 1.0 and 0.3 that break a rule of the specification. */
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { request, rpc, startServer, userMessage } from './test-server.ts';
import type { RpcAnswer, TestServer } from './test-server.ts';

let server: TestServer;
beforeAll(async () => (server = await startServer()));
afterEach(() => void server.tasks.received.splice(0));

const OLD = { 'a2a-version': undefined };
const text = (more: object = {}) => ({ ...userMessage('hello').message, ...more });

/** Sends the same message over both bindings of A2A 1.0. */
async function both(message: object, more: object = {}): Promise<[RpcAnswer, RpcAnswer]> {
  const params = { message, configuration: { returnImmediately: true, ...more } };
  return [
    await rpc(server, 'SendMessage', params),
    await request(server, { path: '/message:send', body: JSON.stringify(params) }),
  ];
}

describe('a message that breaks a rule', () => {
  test.each<[string, object]>([
    ['no role', { role: undefined }],
    ['an unknown role', { role: 'ROLE_BOSS' }],
    ['a role that is a number', { role: 1 }],
    ['the role of A2A 0.3', { role: 'user' }],
    ['a message id that is a list', { messageId: ['m'] }],
    ['a message id in snake case that is a list', { messageId: undefined, message_id: ['m'] }],
    ['a context id that is a boolean', { contextId: true }],
    ['a task id that is a list', { taskId: ['task-1'] }],
    ['metadata that is a list', { metadata: [] }],
    ['an extension that is a number', { extensions: [1] }],
    ['a referenced task that is a boolean', { referenceTaskIds: [true] }],
    ['a part with two contents', { parts: [{ text: 'a', data: {} }] }],
    ['a part with text and null data', { parts: [{ text: 'a', data: null }] }],
    ['a part with a text that is a boolean', { parts: [{ text: true }] }],
    ['a part with a media type that is a list', { parts: [{ text: 'a', mediaType: ['text/plain'] }] }],
  ])('a message with %s gets the error "invalid params" over both bindings', async (_what, more) => {
    const [overRpc, overRest] = await both(text(more));
    expect(overRpc.body).toMatchObject({ error: { code: -32602 } });
    expect(overRest.status).toBe(400);
    expect(overRest.body).toMatchObject({ error: { status: 'INVALID_ARGUMENT' } });
    expect(server.tasks.received).toEqual([]);
  });

  test.each<[string, object]>([
    ['returnImmediately', { returnImmediately: 'false' }],
    ['historyLength', { historyLength: true }],
    ['acceptedOutputModes', { acceptedOutputModes: 'text/plain' }],
  ])('a configuration with a wrong %s gets the error "invalid params"', async (_what, configuration) => {
    const [overRpc, overRest] = await both(text(), configuration);
    expect(overRpc.body).toMatchObject({ error: { code: -32602 } });
    expect(overRest.status).toBe(400);
    const [name = ''] = Object.keys(configuration);
    for (const answer of [overRpc, overRest]) expect(answer.text).toContain(name);
  });

  test.each(['image/png', 'text/html', 'nonsense'])(
    'a message with the media type %p gets the error "content type not supported"',
    async (mediaType) => {
      const [overRpc, overRest] = await both(text({ parts: [{ text: 'x', mediaType }] }));
      expect(overRpc.body).toMatchObject({ error: { code: -32005 } });
      expect(overRpc.text).toContain('text/plain');
      expect(overRest.status).toBe(400);
      expect(overRest.text).toContain('CONTENT_TYPE_NOT_SUPPORTED');
    },
  );

  test.each(['text/plain', 'Text/Plain; charset=utf-8', 'text/markdown', 'application/json'])(
    'a message with the media type %p is accepted',
    async (mediaType) => {
      await rpc(server, 'SendMessage', {
        message: text({ parts: [{ text: 'x', mediaType }] }),
        configuration: { returnImmediately: true },
      });
      expect(server.tasks.received).toHaveLength(1);
    },
  );

  test('the server accepts null as a data part, and field names in snake case', async () => {
    const { messageId: message_id, ...rest } = text({
      parts: [{ data: null, media_type: 'application/json' }],
    });
    const sent = await both({ message_id, ...rest }, { return_immediately: true });
    expect(sent[0].body).toMatchObject({ result: { task: { history: [{ parts: [{ data: null }] }] } } });
    expect(server.tasks.received.map(({ message }) => message)).toMatchObject(
      sent.map(() => ({ messageId: message_id, parts: [{ type: 'data', data: null }] })),
    );
  });

  test('the server ignores unknown fields', async () => {
    await both(text({ mood: 'good', parts: [{ text: 'x', mood: 'good' }] }), {
      returnImmediately: true,
      mood: 1,
    });
    expect(server.tasks.received).toHaveLength(2);
  });
});

describe('a request without a required field', () => {
  test.each(['GetTask', 'CancelTask', 'SubscribeToTask'])(
    '%s without an id gets the error "invalid params"',
    async (method) => {
      for (const params of [{}, { id: '' }, { id: null }, { id: true }, { id: ['task-1'] }]) {
        const answer = await rpc(server, method, params);
        expect(answer.body).toMatchObject({ error: { code: -32602 } });
        expect(answer.text).not.toContain('There is no task');
      }
    },
  );

  test.each(['tasks/get', 'tasks/cancel', 'tasks/resubscribe'])(
    '%s of A2A 0.3 without an id gets the error "invalid params"',
    async (method) => {
      for (const params of [{}, { id: '' }, { id: 5 }])
        expect((await rpc(server, method, params, OLD)).body).toMatchObject({ error: { code: -32602 } });
    },
  );

  test.each([
    { contextId: true },
    { pageToken: ['x'] },
    { includeArtifacts: 'yes' },
    { status: 3 },
    { pageSize: true },
    { historyLength: -1 },
  ])('a task list request with %p gets the error "invalid params"', async (params) => {
    expect((await rpc(server, 'ListTasks', params)).body).toMatchObject({ error: { code: -32602 } });
  });

  test.each(['includeArtifacts=yes', 'pageSize=many', 'status=3', 'historyLength=-1'])(
    'a task list request with the query %p gets an error',
    async (query) => {
      const answer = await request(server, { method: 'GET', path: `/tasks?${query}` });
      expect(answer.body).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
    },
  );

  test('a task list request over HTTP+JSON takes its filters from the query string', async () => {
    const { taskId } = server.tasks.begin([{ type: 'task.completed' }]);
    const list = async (query: string) =>
      (await request(server, { method: 'GET', path: `/tasks?${query}` })).body;
    const found = { tasks: [{ id: taskId }], nextPageToken: '', pageSize: 5, totalSize: 1 };
    expect(await list('status=TASK_STATE_COMPLETED&pageSize=5&includeArtifacts=true')).toMatchObject({
      ...found,
      tasks: [{ id: taskId, artifacts: [] }],
    });
    const without = await list('status=TASK_STATE_COMPLETED&pageSize=5&includeArtifacts=false');
    expect(without).toMatchObject(found);
    expect(JSON.stringify(without)).not.toContain('artifacts');
  });

  test('a task list request over HTTP+JSON decodes its query values', async () => {
    const { taskId, sessionId } = server.tasks.begin([{ type: 'task.completed' }]);
    const encoded = sessionId.replace('-', '%2D');
    expect(encoded).not.toBe(sessionId);
    const answer = await request(server, { method: 'GET', path: `/tasks?contextId=${encoded}` });
    expect(answer.body).toMatchObject({ tasks: [{ id: taskId }], totalSize: 1 });
  });
});

test.each(['"now"', '[1]', '5'])(
  'a cancel whose body is %s is refused, and cancels nothing',
  async (body) => {
    const { taskId } = server.tasks.begin([{ type: 'task.working' }]);
    const refused = await request(server, { path: `/tasks/${taskId}:cancel`, body });
    expect([refused.status, refused.body]).toMatchObject([400, { error: { status: 'INVALID_ARGUMENT' } }]);
    const { body: task } = await request(server, { method: 'GET', path: `/tasks/${taskId}` });
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_WORKING' } });
  },
);

describe('a push notification configuration of A2A 0.3 that breaks a rule', () => {
  const url = 'https://example.com/hook';
  test.each<[string, object]>([
    ['no address', { url: undefined }],
    ['an id that is a list', { url, id: ['mine'] }],
    ['a token that no header can have', { url, token: 'a\nb' }],
    ['a scheme that is no list', { url, authentication: { schemes: 'Bearer' } }],
    ['a scheme that no header can have', { url, authentication: { schemes: ['Bearer x'] } }],
  ])('the server refuses %s, over both bindings and in a message', async (_what, config) => {
    const set = await rpc(
      server,
      'tasks/pushNotificationConfig/set',
      { taskId: 'task-1', pushNotificationConfig: config },
      OLD,
    );
    const sent = await rpc(
      server,
      'message/send',
      { message: oldMessage({}), configuration: { pushNotificationConfig: config } },
      OLD,
    );
    const overRest = await request(server, {
      path: '/v1/tasks/task-1/pushNotificationConfigs',
      body: JSON.stringify({ pushNotificationConfig: config }),
      headers: OLD,
    });
    const sentOverRest = await request(server, {
      path: '/v1/message:send',
      body: JSON.stringify({
        message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hi' }] },
        configuration: { pushNotification: config },
      }),
      headers: OLD,
    });
    for (const { body } of [set, sent]) expect(body).toMatchObject({ error: { code: -32602 } });
    for (const { status, body } of [overRest, sentOverRest])
      expect([status, body]).toMatchObject([400, { code: -32602 }]);
    expect(server.tasks.received).toEqual([]);
  });
});

/** Returns a message of A2A 0.3 for JSON-RPC. */
function oldMessage(more: object) {
  return { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }], ...more };
}

describe('a message of A2A 0.3 that breaks a rule', () => {
  test.each<[string, object]>([
    ['no role', { role: undefined }],
    ['the role of A2A 1.0', { role: 'ROLE_USER' }],
    ['a context id that is a list', { contextId: ['x'] }],
    ['a part of no kind', { parts: [{ text: 'hi' }] }],
    ['data that is a list', { parts: [{ kind: 'data', data: [1] }] }],
    ['data that is null', { parts: [{ kind: 'data', data: null }] }],
    ['a file without content', { parts: [{ kind: 'file', file: { name: 'a' } }] }],
    ['a file whose content is null', { parts: [{ kind: 'file', file: { bytes: null } }] }],
    ['a file whose bytes are a number', { parts: [{ kind: 'file', file: { bytes: 5 } }] }],
    ['a file with two contents', { parts: [{ kind: 'file', file: { bytes: 'AA', uri: 'http://a/' } }] }],
    ['a referenced task that is a boolean', { referenceTaskIds: [true] }],
  ])('in A2A 0.3, a message with %s gets the error "invalid params"', async (_what, more) => {
    const answer = await rpc(server, 'message/send', { message: oldMessage(more) }, OLD);
    expect(answer.body).toMatchObject({ error: { code: -32602 } });
    expect(server.tasks.received).toEqual([]);
  });

  test.each<[string, object]>([
    ['no role', { role: undefined }],
    ['an unknown role', { role: 'ROLE_BOSS' }],
    ['a context id that is a list', { contextId: ['x'] }],
    ['a text that is a boolean', { content: [{ text: true }] }],
    ['a part without content', { content: [{}] }],
    ['a part with two contents', { content: [{ text: 'hi', data: { data: {} } }] }],
    ['data that is a list', { content: [{ data: { data: [1] } }] }],
    ['a file whose address is a list', { content: [{ file: { fileWithUri: ['http://a/'] } }] }],
  ])('in A2A 0.3 over HTTP+JSON, a message with %s gets the error "invalid params"', async (_what, more) => {
    const message = { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hi' }], ...more };
    const answer = await request(server, {
      path: '/v1/message:send',
      body: JSON.stringify({ message }),
      headers: OLD,
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: -32602 });
    expect(server.tasks.received).toEqual([]);
  });
});

describe('a message of A2A 0.3', () => {
  test.each<[string, object]>([
    ['a text part', { kind: 'text', text: 'hi' }],
    ['a data part', { kind: 'data', data: { a: null } }],
  ])('the metadata of %s may be null, like each other field', async (_what, part) => {
    const message = oldMessage({
      contextId: null,
      taskId: null,
      metadata: null,
      extensions: null,
      referenceTaskIds: null,
      parts: [{ ...part, metadata: null }],
    });
    const params = { message, configuration: { acceptedOutputModes: null, blocking: false }, metadata: null };
    const answer = await rpc(server, 'message/send', params, OLD);
    expect(answer.body).toMatchObject({ result: { kind: 'task', history: [{ parts: [part] }] } });
    const { kind: type, ...content } = { kind: '', ...part };
    expect(server.tasks.received).toMatchObject([{ message: { parts: [{ type, ...content }] } }]);
  });

  test.each(['request', 'message'])(
    'in A2A 0.3 over HTTP+JSON, the server reads the message from the field %s, its name in a2a.proto or in JSON',
    async (name) => {
      const message = { message_id: 'm', role: 'ROLE_USER', content: [{ text: 'hi', metadata: null }] };
      const answer = await request(server, {
        path: '/v1/message:send',
        body: JSON.stringify({ [name]: message, configuration: { blocking: false } }),
        headers: OLD,
      });
      expect(answer.status).toBeLessThan(300);
      expect(server.tasks.received).toMatchObject([{ message: { parts: [{ type: 'text', text: 'hi' }] } }]);
    },
  );
});
