/** Receives OTLP over HTTP with JSON, as an OpenTelemetry collector does. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { listenOnLoopback } from './listen-on-loopback.ts';

const attributes = z
  .array(
    z.object({
      key: z.string(),
      value: z.object({ stringValue: z.string().optional(), intValue: z.number().optional() }),
    }),
  )
  .default([]);
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes,
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
});
const tracesBody = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })) })),
});
const metricsBody = z.object({
  resourceMetrics: z.array(
    z.object({ scopeMetrics: z.array(z.object({ metrics: z.array(z.object({ name: z.string() })) })) }),
  ),
});

export interface ReceivedSpan extends Omit<z.infer<typeof spanSchema>, 'attributes'> {
  attributes: Record<string, string | number | undefined>;
}

export class OtlpReceiver {
  readonly #server = createServer();
  readonly spans: ReceivedSpan[] = [];
  /** The names of the metrics that arrived. */
  readonly metrics = new Set<string>();
  /** Everything that arrived, as text. */
  received = '';
  url = '';
  close: () => Promise<void> = () => Promise.resolve();

  static async open(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.on('request', (request, response) => {
      void receiver.#receive(request, response);
    });
    const { host, close } = await listenOnLoopback(receiver.#server);
    receiver.url = `http://${host}`;
    receiver.close = close;
    return receiver;
  }

  /** Resolves when `found` returns a value. */
  async until<Found>(found: (receiver: this) => Found | undefined): Promise<Found> {
    for (;;) {
      const value = found(this);
      if (value !== undefined) return value;
      await once(this.#server, 'received');
    }
  }

  /** Resolves when a span with this name has arrived. */
  span(name: string): Promise<ReceivedSpan> {
    return this.until(({ spans }) => spans.find((span) => span.name === name));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#note(request.url ?? '', await text(request));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    this.#server.emit('received');
  }

  #note(path: string, body: string): void {
    this.received += body;
    if (path === '/v1/traces')
      for (const { scopeSpans } of tracesBody.parse(JSON.parse(body)).resourceSpans)
        for (const span of scopeSpans.flatMap(({ spans }) => spans))
          this.spans.push({
            ...span,
            attributes: Object.fromEntries(
              span.attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
            ),
          });
    if (path === '/v1/metrics')
      for (const { scopeMetrics } of metricsBody.parse(JSON.parse(body)).resourceMetrics)
        for (const { name } of scopeMetrics.flatMap(({ metrics }) => metrics)) this.metrics.add(name);
  }
}
