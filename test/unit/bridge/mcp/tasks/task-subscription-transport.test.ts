import { beforeEach, describe, expect, test } from '@jest/globals';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { DetailedTask } from '../../../../../bridge/mcp/tasks/detailed-task.ts';
import { TaskSubscriptionTransport } from '../../../../../bridge/mcp/tasks/task-subscription-transport.ts';

const DECLARED = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

const working = (taskId: string): DetailedTask => ({
  taskId,
  status: 'working',
  statusMessage: '',
  createdAt: '2030-01-01T00:00:00.000Z',
  lastUpdatedAt: '2030-01-01T00:00:00.000Z',
  ttlMs: null,
  pollIntervalMs: 1_000,
});

const listen = (meta: object, taskIds: unknown = ['known', 'unknown', 'known']): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'subscriptions/listen',
  params: { notifications: { taskIds, toolsListChanged: true }, _meta: { ...meta } },
});

const ack: JSONRPCMessage = {
  jsonrpc: '2.0',
  method: 'notifications/subscriptions/acknowledged',
  params: { notifications: { toolsListChanged: true }, _meta: { [SUBSCRIPTION]: 7 } },
};

describe('subscriptions to tasks over stdio', () => {
  let sent: JSONRPCMessage[];
  let received: JSONRPCMessage[];
  let stopped: string[];
  let pushes: Map<string, (task: DetailedTask) => void>;
  let inner: Transport;
  let listening: TaskSubscriptionTransport;

  beforeEach(() => {
    sent = [];
    received = [];
    stopped = [];
    pushes = new Map();
    inner = {
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: async (message) => {
        sent.push(message);
      },
    };
    listening = new TaskSubscriptionTransport(inner, async (taskId, push) => {
      if (taskId !== 'known') throw new Error('no such task');
      pushes.set(taskId, push);
      push(working(taskId));
      return () => stopped.push(taskId);
    });
    Object.assign(listening, { onmessage: (message: JSONRPCMessage) => received.push(message) });
  });

  test('R66 the acknowledgement names the existing tasks, and their states follow', async () => {
    inner.onmessage?.(listen(DECLARED));
    expect(received).toEqual([listen(DECLARED)]);
    await listening.send(ack);
    pushes.get('known')?.({ ...working('known'), statusMessage: 'later' });
    expect(sent).toMatchObject([
      { params: { notifications: { toolsListChanged: true, taskIds: ['known'] } } },
      { method: 'notifications/tasks', params: { taskId: 'known', _meta: { [SUBSCRIPTION]: 7 } } },
      { method: 'notifications/tasks', params: { statusMessage: 'later' } },
    ]);
  });

  test('R66 a cancelled subscription gets no more messages, and neither does a client that disconnects', async () => {
    inner.onmessage?.(listen(DECLARED));
    await listening.send(ack);
    const before = sent.length;
    inner.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    expect(stopped).toEqual(['known']);
    pushes.get('known')?.(working('known'));
    expect(sent).toHaveLength(before);
    inner.onmessage?.(listen(DECLARED));
    await listening.send(ack);
    inner.onclose?.();
    expect(stopped).toEqual(['known', 'known']);
  });

  test('R66 no task is watched after an acknowledgement that could not be sent, or after a repeated id', async () => {
    inner.onmessage?.(listen(DECLARED));
    await listening.send(ack);
    inner.onmessage?.(listen(DECLARED));
    expect(stopped).toEqual(['known']);
    Object.assign(inner, { send: () => Promise.reject(new Error('the pipe is closed')) });
    await expect(listening.send(ack)).rejects.toThrow('the pipe is closed');
    expect(stopped).toEqual(['known', 'known']);
  });

  test('R66 a client that does not declare MCP tasks is refused, and other clients are not affected', () => {
    inner.onmessage?.(listen({}));
    expect(sent).toMatchObject([{ id: 7, error: { code: -32021 } }]);
    expect(received).toEqual([]);
  });

  test('all other messages pass unchanged', async () => {
    const others: JSONRPCMessage[] = [
      listen({}, []),
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'x' } },
    ];
    for (const message of others) inner.onmessage?.(message);
    expect(received).toEqual(others);
    await listening.send(ack);
    expect(sent).toEqual([ack]);
  });
});
