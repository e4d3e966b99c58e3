/** A program on loopback that lists models, as Ollama and the OpenAI-compatible servers do. Ends after the test. */
import { afterEach } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { listenOnLoopback, type LoopbackAddress } from './listen-on-loopback.ts';

const open: LoopbackAddress[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

export interface LocalModelServer {
  /** The address of the server, without a path. */
  url: string;
  /** The paths of the requests so far. */
  asked: string[];
  /** Resolves at the first request. */
  firstRequest: Promise<void>;
}

/** @param answers the body for each path. If the body is undefined, the server never answers that path. */
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
  const firstRequest = once(server, 'request').then(() => undefined);
  const listening = await listenOnLoopback(server);
  open.push(listening);
  return { url: `http://${listening.host}`, asked, firstRequest };
}

/** @returns the body of Ollama's `GET /api/tags` with these models */
export const ollamaTags = (...names: string[]): string =>
  JSON.stringify({ models: names.map((name) => ({ name, model: name, size: 1, details: {} })) });

/** @returns the body of OpenAI's `GET /v1/models` with these models */
export const modelList = (...ids: string[]): string =>
  JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, object: 'model', owned_by: 'me' })) });

/** A URL on loopback where no program listens. */
export const UNUSED_URL = 'http://127.0.0.1:1';
