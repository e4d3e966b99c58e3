/** Tests `GET /api/costs`, and the costs of a task, on a real socket. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { costReportSchema, eventCostSchema, taskCostsSchema } from '../../../shared/protocol/cost-report.ts';
import { OTHER_TOKEN, request, startServer, type TestServer } from './test-server.ts';

let server: TestServer;

const streamed = z.object({
  artifactUpdate: z
    .object({
      metadata: z.object({
        'urn:mcp-a2a-bridge:tool-approval:v1': z.object({ cost: z.optional(eventCostSchema) }).optional(),
      }),
    })
    .optional(),
});

beforeEach(async () => {
  server = await startServer();
  server.tasks.begin([
    { type: 'task.working' },
    { type: 'turn.started', turn: 1, model: 'openai:gpt-4o' },
    { type: 'turn.finished', turn: 1, end: 'stop', usage: { inputTokens: 9, outputTokens: 1 }, usd: 0.5 },
    { type: 'task.completed' },
  ]);
});

const costs = (query = '', token?: string) =>
  request(server, {
    method: 'GET',
    path: `/api/costs${query}`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });

describe('the cost report of the caller', () => {
  it('the report lists costs by UTC day, session and model', async () => {
    const { status, body } = await costs('?days=7');
    expect(status).toBe(200);
    expect(costReportSchema.parse(body)).toMatchObject({
      from: '2025-12-26',
      to: '2026-01-01',
      total: { requests: 1, usd: 0.5 },
      days: [{ day: '2026-01-01', inputTokens: 9, usd: 0.5 }],
      sessions: [{ sessionId: 'session-1', lastDay: '2026-01-01' }],
      models: [{ model: 'openai:gpt-4o', usd: 0.5 }],
    });
  });

  it('X1 the report contains only the costs of the token’s principal, and a request without a token is refused', async () => {
    const other = costReportSchema.parse((await costs('', OTHER_TOKEN)).body);
    expect(other).toMatchObject({ total: { requests: 0, usd: 0 }, days: [], sessions: [], models: [] });
    expect((await costs('', 'wrong-token-0123456789-abcdef')).status).toBe(401);
  });

  it.each(['?days=0', '?days=x', '?days=1.5', '?days=99999', '?days=1&days=2'])(
    'X3 the query %s is refused with an explanation',
    async (query) => {
      const { status, text } = await costs(query);
      expect([status, text]).toEqual([400, expect.stringContaining('The query is ?days=…')]);
    },
  );

  it('the report’s address accepts only GET and HEAD', async () => {
    const { status, headers } = await request(server, { path: '/api/costs', body: '{}' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('the task contains the costs of its whole session, for a client with the approval extension', async () => {
    const { body } = await request(server, {
      method: 'GET',
      path: '/tasks/task-1',
      headers: { 'a2a-extensions': 'urn:mcp-a2a-bridge:tool-approval:v1' },
    });
    expect(body).toMatchObject({
      metadata: {
        'urn:mcp-a2a-bridge:tool-approval:v1': {
          usage: { inputTokens: 9, usd: 0.5 },
          sessionUsage: { requests: 1, inputTokens: 9, usd: 0.5, unpricedRequests: 0 },
        },
      },
    });
  });
});

const costsOf = (taskId: string, token?: string) =>
  request(server, {
    method: 'GET',
    path: `/api/tasks/${taskId}/costs`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
const turn = (number: number, more: object = {}): TaskEvent[] => [
  { type: 'turn.started', turn: number, model: 'openai:gpt-4o' },
  {
    type: 'turn.finished',
    turn: number,
    end: 'stop',
    usage: { inputTokens: 9, outputTokens: 1, cachedInputTokens: 5, cacheWriteTokens: 2 },
    ...more,
  },
];

describe('the costs of a task by model request', () => {
  const tokens = { inputTokens: 9, outputTokens: 1, cachedInputTokens: 5, cacheWriteTokens: 2 };

  it('the costs list each turn and each summary with its tokens, and without a price if the price is unknown', async () => {
    const { taskId } = server.tasks.begin([
      ...turn(1, { usd: 0.5 }),
      {
        type: 'context.summarised',
        upTo: { taskId: 'task-1', turn: 1 },
        summary: 's',
        model: 'openai:gpt-4o-mini',
        usage: { inputTokens: 40, outputTokens: 4 },
        usd: 0.25,
      },
      ...turn(2),
      ...turn(3, { usage: { inputTokens: 0, outputTokens: 0 } }),
    ]);
    const { status, body } = await costsOf(taskId);
    expect(status).toBe(200);
    const none = { cachedInputTokens: 0, cacheWriteTokens: 0 };
    expect(taskCostsSchema.parse(body)).toEqual({
      taskId,
      requests: [
        { at: '2026-01-01T00:00:04.000Z', model: 'openai:gpt-4o', turn: 1, ...tokens, usd: 0.5 },
        {
          at: '2026-01-01T00:00:05.000Z',
          model: 'openai:gpt-4o-mini',
          turn: null,
          inputTokens: 40,
          outputTokens: 4,
          ...none,
          usd: 0.25,
        },
        { at: '2026-01-01T00:00:07.000Z', model: 'openai:gpt-4o', turn: 2, ...tokens, usd: null },
      ],
    });
  });

  it('X1 only the task’s principal can read the costs', async () => {
    expect((await costsOf('task-1', OTHER_TOKEN)).status).toBe(404);
    expect((await costsOf('task-1', 'wrong-token-0123456789-abcdef')).status).toBe(401);
    expect((await costsOf('no-such-task')).status).toBe(404);
  });

  it('the costs are in the event that ends the turn, for a client with the approval extension', async () => {
    const { taskId } = server.tasks.begin([...turn(1, { usd: 0.5 }), { type: 'task.completed' }]);
    const { text } = await request(server, { method: 'GET', path: `/api/tasks/${taskId}/events` });
    const events = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
    const costsSeen = events.flatMap((data) => {
      const { artifactUpdate } = streamed.parse(JSON.parse(data));
      return artifactUpdate?.metadata['urn:mcp-a2a-bridge:tool-approval:v1']?.cost ?? [];
    });
    expect(costsSeen).toEqual([{ turn: 1, ...tokens, usd: 0.5 }]);
  });
});
