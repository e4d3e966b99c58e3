import { describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import {
  DECIDE,
  DELEGATE,
  closeAfterTest,
  startAgent,
  startClient,
  stateDirectory,
} from './support/bridge-stage.ts';

interface ChatPost {
  path: string | undefined;
  body: string;
  signature: unknown;
}

/** Starts a chat service that answers each post with an approval. Only a program may decide in this way. */
async function startChat(): Promise<{ url: string; posts: AsyncIterator<ChatPost> }> {
  const arrived: ((post: ChatPost) => void)[] = [];
  const posts = [0, 1].map(() => new Promise<ChatPost>((resolve) => void arrived.push(resolve)));
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const decisions = [{ callId: 'one', shown: 'hash-of-one', decision: 'approve' }];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ decisions }));
      arrived.shift()?.({ path: request.url, body, signature: request.headers['webhook-signature'] });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTest(() => {
    server.closeAllConnections();
    server.close();
    return Promise.resolve();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  const each = async function* (): AsyncGenerator<ChatPost> {
    for (const post of posts) yield await post;
  };
  return { url: `http://127.0.0.1:${String(address.port)}/topic`, posts: each() };
}

describe('the approval webhook of a chat', () => {
  test.each([
    ['slack', '/topic', /^\{"text":"An agent waits.*"plain_text","text":"agent, session-1: ask\\n.*one\.md/],
    ['teams', '/topic', /^\{"type":"message","attachments":.*"TextRun","text":"[^"]*one\.md/],
    ['ntfy', '/', /^\{"topic":"topic","title":"An agent waits.*one\.md/],
  ])(
    'D5 %s gets a message about each waiting action, and its answer decides nothing',
    async (format, path, says) => {
      const chat = await startChat();
      const agent = await startAgent({
        onMessage: (task) => task.work().ask(pendingWrite('one')),
        onDecisions: (task) => task.complete(),
      });
      const stateDir = await stateDirectory();
      const approvalWebhook = { url: chat.url, format, afterSeconds: 0 };
      await writeFile(join(stateDir, 'config.json'), JSON.stringify({ bridge: { approvalWebhook } }));
      const client = await startClient(agent, { stateDir });
      await client.call(DELEGATE, { task: 'ask' });
      const asked: unknown = (await chat.posts.next()).value;
      expect(asked).toEqual({ path, body: expect.stringMatching(says), signature: undefined });
      expect(JSON.stringify(asked)).not.toMatch(/hash-of-one|\+hello/);
      const decision = { callId: 'one', shown: 'hash-of-one', decision: 'deny' };
      await client.call(DECIDE, { sessionId: 'session-1', ...decision });
      const decided: unknown = (await chat.posts.next()).value;
      expect(decided).toMatchObject({ path, body: expect.stringContaining('No longer waiting') });
      expect(agent.decisions).toMatchObject([{ callId: 'one', decision: 'deny' }]);
    },
  );
});
