/** A receiver for the approval webhook: a real HTTP server that records the posts and answers as the test decides. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';

const notice = z.object({ type: z.string(), timestamp: z.string(), data: z.looseObject({}) });

interface Posted {
  type: string;
  data: Record<string, unknown>;
  headers: IncomingMessage['headers'];
  /** True if the signature is valid for the receiver's secret. */
  genuine: boolean;
  /** Resolves when the sender disconnects before the answer. */
  gone: Promise<void>;
}

/** @returns the reply to one post; undefined means 204 */
type Answering = (posted: Posted) => undefined | WebhookReply | Promise<undefined | WebhookReply>;

export interface WebhookReply {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

export const asJson = (value: unknown): WebhookReply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

export class WebhookReceiver {
  readonly posts: Posted[] = [];
  readonly secret = 'the secret of the receiver';
  answering: Answering;
  readonly #server: Server;
  readonly #arrivals = new Set<() => void>();

  private constructor(answering: Answering) {
    this.answering = answering;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(answering: Answering = () => undefined): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(answering);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return `http://127.0.0.1:${String(address.port)}/hooks/approvals`;
  }

  of(type: string): readonly Posted[] {
    return this.posts.filter((each) => each.type === type);
  }

  /** Resolves with the nth post of this type; n is 1 by default. */
  async got(type: string, number = 1): Promise<Posted> {
    for (;;) {
      const found = this.of(type)[number - 1];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        const arrived = (): void => {
          this.#arrivals.delete(arrived);
          resolve();
        };
        this.#arrivals.add(arrived);
      });
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { type, data } = notice.parse(JSON.parse(body));
    const gone = new Promise<void>((resolve) =>
      response.once('close', () => !response.writableFinished && resolve()),
    );
    const posted = { type, data, headers: request.headers, genuine: this.#isGenuine(request, body), gone };
    this.posts.push(posted);
    for (const arrived of this.#arrivals) arrived();
    const reply = await this.answering(posted);
    response.writeHead(reply?.status ?? 204, reply?.headers).end(reply?.body);
  }

  /** Verifies the signature as the standard describes, without the bridge's code. */
  #isGenuine({ headers }: IncomingMessage, body: string): boolean {
    const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    const mac = createHmac('sha256', this.secret).update(content).digest('base64');
    const age = Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp']));
    return headers['webhook-signature'] === `v1,${mac}` && age < 300;
  }
}
