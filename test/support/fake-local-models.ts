/** A program on loopback that lists models, as Ollama and the OpenAI-compatible servers do. Ends after the test. */
import { afterEach } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

const open: Server[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

export interface LocalModelServer {
  /** Without a path. */
  url: string;
  /** The paths of the requests. */
  asked: string[];
}

/** @param answers the body for each path; undefined for a path means that no answer comes */
export async function localModelServer(
  answers: Readonly<Record<string, string | undefined>>,
): Promise<LocalModelServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    if (!Object.hasOwn(answers, path)) response.writeHead(404).end('not here');
    else if (answers[path] !== undefined) response.end(answers[path]);
  });
  open.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { url: `http://127.0.0.1:${address.port}`, asked };
}

/** Ollama's `GET /api/tags`. */
export const ollamaTags = (...names: string[]): string =>
  JSON.stringify({ models: names.map((name) => ({ name, model: name, size: 1, details: {} })) });

/** OpenAI's `GET /v1/models`. */
export const modelList = (...ids: string[]): string =>
  JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, object: 'model', owned_by: 'me' })) });

/** A URL on loopback where no program listens. */
export const UNUSED_URL = 'http://127.0.0.1:1';
