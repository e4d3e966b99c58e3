/** A receiver of push notifications: a real HTTP server that records the posts and answers as the test decides. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { readEvent, type StreamEvent } from './wire-event.ts';

interface Notification {
  headers: IncomingHttpHeaders;
  body: string;
  /** The body of A2A 1.0, parsed. */
  readonly event: StreamEvent;
}

/** A status for one post. `silence`: the receiver never answers. A text: a redirect to this address. */
type Reply = number | 'silence' | { location: string };

export interface PushReceiver {
  url: string;
  host: string;
  readonly notifications: readonly Notification[];
  /** The answer to the posts from now on. */
  reply: Reply;
  /** The number of posts that got another answer than 204. */
  readonly refused: number;
  /** Resolves when the condition holds. It is checked after each post. */
  until: (condition: () => boolean) => Promise<void>;
  stop: () => Promise<void>;
}

export async function pushReceiver(): Promise<PushReceiver> {
  const notifications: Notification[] = [];
  const waiting = new Set<() => void>();
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const { reply } = receiver;
    if (reply === 204)
      notifications.push({
        headers: request.headers,
        body,
        get event() {
          return readEvent(JSON.parse(body), body);
        },
      });
    else receiver.refused += 1;
    if (typeof reply === 'number') response.writeHead(reply).end();
    else if (reply !== 'silence') response.writeHead(302, reply).end();
    for (const look of waiting) look();
  };
  const server = createServer((request, response) => void receive(request, response));
  const { host, close } = await listenOnLoopback(server);
  const receiver = {
    url: `http://${host}/hook?key=secret`,
    host,
    notifications,
    reply: 204 as Reply,
    refused: 0,
    until: (condition: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (!condition()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    stop: close,
  };
  return receiver;
}
