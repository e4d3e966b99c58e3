/** `GET /api/costs` on a real socket. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { costReportSchema } from '../../../shared/protocol/cost-report.ts';
import { OTHER_TOKEN, request, startServer, type TestServer } from './test-server.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
  server.tasks.start(
    {
      principal: 'local',
      channel: 'a2a',
      message: { messageId: 'm', parts: [{ type: 'text', text: 'hi' }] },
    },
    [
      { type: 'task.working' },
      { type: 'turn.started', turn: 1, model: 'openai:gpt-4o' },
      { type: 'turn.finished', turn: 1, end: 'stop', usage: { inputTokens: 9, outputTokens: 1 }, usd: 0.5 },
      { type: 'task.completed' },
    ],
  );
});

afterEach(() => server.close());

const costs = (query = '', token?: string) =>
  request(server, {
    method: 'GET',
    path: `/api/costs${query}`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });

describe('the costs of the caller', () => {
  it('are a report by UTC day, session and model', async () => {
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

  it('X1 are those of the token’s principal alone, and need a token', async () => {
    const other = costReportSchema.parse((await costs('', OTHER_TOKEN)).body);
    expect(other).toMatchObject({ total: { requests: 0, usd: 0 }, days: [], sessions: [], models: [] });
    expect((await costs('', 'wrong-token-0123456789-abcdef')).status).toBe(401);
  });

  it.each(['?days=0', '?days=x', '?days=1.5', '?days=99999', '?days=1&days=2'])(
    'X3 refuse the query %s with a sentence',
    async (query) => {
      const { status, text } = await costs(query);
      expect([status, text]).toEqual([400, expect.stringContaining('The query is ?days=…')]);
    },
  );

  it('answer only GET', async () => {
    const { status, headers } = await request(server, { path: '/api/costs', body: '{}' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('of the whole session are in the task, for a client of the approval extension', async () => {
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
