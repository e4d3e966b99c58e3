import { expect, test } from '@jest/globals';
import { readResumableEvents } from '../../../../bridge/agents/read-events-after-cursor.ts';

test('X3 the agent’s reason for the end of a stream is shortened to one line', async () => {
  const body = `event: error\ndata: out of\ndata: memory ${'x'.repeat(1_000_000)}\n\n`;
  const events = readResumableEvents({
    url: 'http://agent.example/tasks/t:subscribe',
    headers: {},
    after: null,
    fetch: () => Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } })),
    signal: new AbortController().signal,
    onOpen: () => undefined,
  });
  const error: unknown = await events.next().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    reason: 'AGENT_ERROR',
    message: expect.stringMatching(/^The agent ended the stream: out of memory x{200,300}…$/),
  });
});
