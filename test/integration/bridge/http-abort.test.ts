/** Tests `POST /api/tools/abort/:toolId` at the bridge's HTTP port, with the real server. */
import { expect, test } from '@jest/globals';
import { stage } from '../../support/stage.ts';
import { McpClient } from '../../../shared/client/index.ts';
import { startHttp } from './support/bridge-stage.ts';
import { ask } from './support/http-bridge.ts';

test('R40 a client aborts a tool execution over the bridge’s HTTP port, and needs only the token', async () => {
  const { server } = await stage({ args: ['--mode', 'auto'] });
  const bridge = await startHttp(server);
  const client = new McpClient({ url: bridge.url, token: bridge.token });
  const first = await client.call('run_agent_tool', {
    tool: 'wait',
    input: { seconds: 600 },
    waitSeconds: 0,
  });
  const { sessionId } = Object(first.structuredContent);
  const toolId = String(Object(Object(first.structuredContent)['calls'])[0]['toolId']);
  const address = (id: string) => new URL(`/api/tools/abort/${id}`, bridge.url).href;
  const headers = { ...bridge.credentials, 'content-type': 'application/json' };

  expect((await ask(address(toolId), { headers: {} })).status).toBe(401);
  expect(
    (await ask(address(toolId), { headers: { ...headers, origin: 'https://evil.example' } })).status,
  ).toBe(403);
  const wrong = await ask(address(toolId), { method: 'GET', headers });
  expect([wrong.status, wrong.headers.allow]).toEqual([405, 'POST']);
  expect((await ask(address(toolId), { headers, body: '{"why":1}' })).status).toBe(400);

  const aborted = await ask(address(toolId), { headers, body: '{"reason":"enough"}' });
  expect([aborted.status, JSON.parse(aborted.body)]).toEqual([
    200,
    { success: true, message: `Successfully aborted tool execution: ${toolId}` },
  ]);
  const ended = await client.call('wait_for_task', { sessionId });
  expect(JSON.stringify(ended)).toContain('enough');
  // A request without a body is valid. A second abort and an unknown id also get a typed answer.
  const again = await ask(address(toolId), { headers: bridge.credentials });
  expect(JSON.parse(again.body)).toMatchObject({
    success: false,
    message: expect.stringContaining('already aborted'),
  });
  const unknown = await ask(address('crawl-1623456789-abc123def'), { headers: bridge.credentials });
  expect(JSON.parse(unknown.body)).toMatchObject({ success: false });
  await client.close();
});
