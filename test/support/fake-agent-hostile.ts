/** An agent with a valid card and invalid answers. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';

export interface HostileAgent {
  url: string;
  /** The number of POST requests so far. */
  readonly posts: () => number;
  stop: () => Promise<void>;
}

/**
 * @param answer answers every request except the request for the card. @param options `card`: `answer` also answers the
 * request for the card. `endpoint`: the address on the card; by default the agent's own. `streaming`: the value on the
 * card; by default true.
 */
export async function hostileAgent(
  answer: RequestListener,
  options: { card?: boolean; endpoint?: string; streaming?: boolean } = {},
): Promise<HostileAgent> {
  let posts = 0;
  const server = createServer((request, response) => {
    if (options.card !== true && request.url === '/.well-known/agent-card.json')
      return sendCard(response, options.endpoint ?? url, options.streaming ?? true);
    if (request.method === 'POST') posts += 1;
    request.resume();
    return answer(request, response);
  });
  const { host, close } = await listenOnLoopback(server);
  const url = `http://${host}`;
  return {
    url,
    posts: () => posts,
    stop: close,
  };
}

function sendCard(response: ServerResponse, url: string, streaming: boolean): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      name: 'hostile',
      version: '1',
      supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming },
      skills: [],
    }),
  );
}
