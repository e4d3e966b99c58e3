/** Tests that a full queue refuses new tasks before the app, and that every other request reaches the app. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Identity } from '../../../a2a-server/access/identity.ts';
import { type Authenticate, createAuthenticator } from '../../../a2a-server/http/auth/tokens.ts';
import { createRequestMeasurement } from '../../../a2a-server/http/routes/request-measurement.ts';
import { FairExecutionSlots } from '../../../a2a-server/limits/fair-execution-slots.ts';
import { OpenRequestLimiter } from '../../../a2a-server/limits/open-request-limiter.ts';
import type { AnsweredRequest } from '../../../a2a-server/telemetry/metrics.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import { OTHER_TOKEN, request, type RpcAnswer, startServer, TOKEN, userMessage } from './test-server.ts';
import type { TestServer } from './test-server.ts';

const KNOWN_ID = 'a-message-that-the-server-knows';
/** The methods that send a message, with the version of each. */
const METHODS: [string, string][] = [
  ['SendMessage', '1.0'],
  ['SendStreamingMessage', '1.0'],
  ['message/send', '0.3'],
  ['message/stream', '0.3'],
];

/** Without this, the answer would wait for the end of the task, which never ends here. */
const AT_ONCE = { configuration: { returnImmediately: true } };

/** The fields of a message that may ask for tool calls without approvals. */
const MODE = { metadata: { [TOOL_APPROVAL_EXTENSION]: { autoExecute: true } } };

let server: TestServer;
let queue: { principal: number; server: number };
let recorded: AnsweredRequest[];
/** The number of requests that reached the app. */
let passedOn: number;
/** Checks the tokens, instead of the usual check. */
let checkToken: Authenticate | undefined;

beforeEach(async () => {
  queue = { principal: 1, server: 10 };
  recorded = [];
  passedOn = 0;
  checkToken = undefined;
  const authenticate = createAuthenticator([
    { principal: 'local', token: TOKEN },
    { principal: 'other', token: OTHER_TOKEN },
  ]);
  const measured = createRequestMeasurement((answered) => recorded.push(answered));
  const slots = new FairExecutionSlots({
    limits: () => ({ executions: { principal: 1, server: 1 }, queuedTasks: queue }),
  });
  // A client may read an answer before the server has counted its end.
  const limits = { requests: { principal: 2, server: 10 }, streams: { principal: 2, server: 10 } };
  server = await startServer({
    openRequests: new OpenRequestLimiter(() => limits),
    measured: {
      ...measured,
      middleware(incoming, response, next) {
        passedOn += 1;
        measured.middleware(incoming, response, next);
      },
    },
    shedding: {
      slots,
      authenticate: (header) => (checkToken ?? authenticate)(header),
      isKnown: async (_principal, messageId) => messageId === KNOWN_ID,
    },
  });
  // As in production, the app refuses new tasks too.
  server.tasks.onSend = async (incoming) => {
    if (incoming.message.messageId !== KNOWN_ID) (await slots.reserve(incoming.principal))();
    return server.tasks.start(incoming);
  };
  // One task runs, and the next one fills the queue.
  slots.request({ principal: 'local', begun: false });
  slots.request({ principal: 'local', begun: false });
});

interface Call {
  method?: string;
  version?: string;
  params?: unknown;
  headers?: Record<string, string | undefined>;
}

function call({ method = 'SendMessage', version = '1.0', params, headers = {} }: Call): Promise<RpcAnswer> {
  const body = { jsonrpc: '2.0', id: 7, method, params: params ?? newTask(method) };
  return request(server, { body: JSON.stringify(body), headers: { 'a2a-version': version, ...headers } });
}

/** The load shedding leaves requests of web pages to the app. So this header shows the answer of the app. */
const byTheApp = (): Record<string, string> => ({ origin: server.url });

function newTask(method: string): object {
  if (!method.startsWith('message/')) return { ...userMessage('hi'), ...AT_ONCE };
  const parts = [{ kind: 'text', text: 'hi' }];
  return { message: { kind: 'message', messageId: `old-${method}`, role: 'user', parts } };
}

const answered = ({ status, headers, body }: RpcAnswer): unknown => ({
  status,
  type: headers.get('content-type'),
  retryAfter: headers.get('retry-after'),
  body,
});

describe('a server whose queue is full', () => {
  test.each(METHODS)('refuses %s as the app does, without the app', async (method, version) => {
    for (const [limits, status] of [
      [{ principal: 1, server: 10 }, 429],
      [{ principal: 10, server: 1 }, 503],
    ] as const) {
      queue = limits;
      const early = await call({ method, version });
      const before = server.tasks.received.length;
      const late = await call({ method, version, headers: byTheApp() });
      expect(before).toBe(0);
      expect(server.tasks.received.splice(0)).toHaveLength(1);
      expect(early.status).toBe(status);
      expect(answered(early)).toEqual(answered(late));
    }
  });

  test.each([
    ['a message to a task', { taskId: 'task-9' }],
    ['a message to a task, by the proto name', { task_id: 'task-9' }],
    ['a message in a session', { contextId: 'session-9' }],
    ['a message in a session, by the proto name', { context_id: 'session-9' }],
    ['a message that the server knows', { messageId: KNOWN_ID }],
  ])('leaves %s to the app', async (_name, fields) => {
    const params = { ...userMessage('größer', fields), ...AT_ONCE };
    const direct = await call({ params, headers: byTheApp() });
    const through = await call({ params });
    expect(answered(withoutIds(through))).toEqual(answered(withoutIds(direct)));
    const texts = server.tasks.received.map(({ message: { parts } }) => parts);
    expect(texts.every((parts) => JSON.stringify(parts).includes('größer'))).toBe(true);
    expect(texts).toHaveLength(2);
  });

  test('leaves other methods, other versions and bodies that are no call to the app', async () => {
    const bodies = [
      '[]',
      '{',
      '{"jsonrpc":"2.0","method":"SendMessage"}',
      JSON.stringify(['x'.repeat(70_000)]),
    ];
    for (const body of bodies) {
      const through = await request(server, { body });
      expect(answered(through)).toEqual(answered(await request(server, { body, headers: byTheApp() })));
    }
    const calls: Call[] = [
      { method: 'GetTask', params: { id: 'task-9' } },
      { method: 'SendMessage', version: '0.3' },
      { method: 'message/send', version: '1.0' },
      { method: 'SendMessage', version: '9.9' },
      { params: { ...userMessage('hi'), tenant: 'acme' } },
      { params: userMessage('hi', { messageId: undefined }) },
    ];
    for (const one of calls)
      expect(answered(await call(one))).toEqual(answered(await call({ ...one, headers: byTheApp() })));
  });

  test('accepts a task of a principal with space, and tells nobody else about the queue', async () => {
    const other = await call({ headers: { authorization: `Bearer ${OTHER_TOKEN}` } });
    expect([other.status, server.tasks.received.length]).toEqual([200, 1]);
    const stranger = await call({ headers: { authorization: 'Bearer wrong-token-0123456789-abcdef' } });
    expect(stranger.status).toBe(401);
  });

  test.each<[string, Partial<Identity>, object, number]>([
    ['a token that may only read', { roles: ['read'] }, {}, 1],
    ['an issued token that is no longer active', { tokenId: 'token-9' }, {}, 1],
    ['a mode without approvals, from a token that may not approve', { roles: ['delegate'] }, MODE, 1],
    ['nothing else from a token that may not approve', { roles: ['delegate'] }, {}, 0],
    ['no mode from a token that may approve', { roles: ['delegate', 'approve'] }, MODE, 0],
  ])('leaves to the app %s', async (_name, identity, fields, passed) => {
    checkToken = async () => ({ principal: 'local', ...identity });
    await call({ params: { ...userMessage('hi', fields), ...AT_ONCE } });
    expect(passedOn).toBe(passed);
  });

  test('counts each refused request as open only until its answer, and measures it', async () => {
    for (let sent = 0; sent < 5; sent += 1) expect((await call({})).text).toContain('1 task that waits');
    expect(recorded).toHaveLength(5);
    expect(recorded[0]).toMatchObject({ method: 'POST', route: '/', operation: 'SendMessage', status: 429 });
  });

  test.each([true, false])(
    'forgets clients that leave while their token is checked (valid: %s)',
    async (valid) => {
      const checks: (() => void)[] = [];
      const done = new Deferred<void>();
      checkToken = (header) => {
        if (header !== `Bearer ${TOKEN}`) throw new Error('the check failed');
        return new Promise((resolve, reject) => {
          checks.push(() =>
            valid ? resolve({ principal: 'local' }) : reject(new Error('the check failed')),
          );
          if (checks.length === 3) done.resolve();
        });
      };
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'SendMessage',
        params: userMessage('hi'),
      });
      const sockets = await openSockets(3);
      for (const socket of sockets) socket.write(`${headOf(body.length)}${body}`);
      await done.promise;
      for (const socket of sockets) socket.resetAndDestroy();
      // The server has read the ends of the other connections before it answers this request.
      await call({ headers: { authorization: undefined } });
      const before = passedOn;
      for (const end of checks) end();
      checkToken = undefined;
      for (let sent = 0; sent < 3; sent += 1) expect((await call({})).text).toContain('1 task that waits');
      expect(passedOn).toBe(before);
    },
  );

  test('counts a request without the rest of its body as open, until its client leaves', async () => {
    const sockets = await openSockets(2);
    for (const socket of sockets) socket.write(`${headOf(1_000)}{`);
    while (!(await call({})).text.includes('2 open requests'));
    for (const socket of sockets) socket.destroy();
    while (!(await call({})).text.includes('1 task that waits'));
  });
});

/** Returns the headers of a JSON-RPC request with the local token. */
function headOf(length: number): string {
  const lines = [
    'POST / HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${TOKEN}`,
    'A2A-Version: 1.0',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function openSockets(count: number): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(server.port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    }),
  );
}

/** The ids of a new task differ each time. */
function withoutIds(answer: RpcAnswer): RpcAnswer {
  const text = answer.text.replaceAll(/(task|session)-\d+/g, '$1');
  return { ...answer, text, body: JSON.parse(text) };
}
