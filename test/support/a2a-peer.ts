/** An A2A 1.0 client over JSON-RPC on raw connections. It sends only what the test tells it. */
import { z } from 'zod';
import {
  LAST_EVENT_ID_HEADER,
  RESUMABLE_STREAM_EXTENSION,
} from '../../shared/protocol/resumable-stream-extension.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import { decisionsPart, writtenMessage, type MessageFields, type WrittenDecision } from './a2a-message.ts';
import { EventStream } from './event-stream.ts';
import { RawConnection, type RawResponse } from './raw-connection.ts';
import { jsonOf, resultOf, rpcBody } from './rpc-answer.ts';
import { readTask, type TaskView } from './wire-event.ts';

interface Sending {
  /** The connection for the request; by default a new one. */
  over?: RawConnection;
  headers?: Readonly<Record<string, string>>;
}

export type MessageOptions = Sending & MessageFields;

const abortAnswer = z.strictObject({ success: z.boolean(), message: z.string() });

export class A2aPeer {
  readonly url: string;
  readonly #token: string;

  constructor({ url, token }: { url: string; token: string }) {
    this.url = url;
    this.#token = token;
  }

  connect(): Promise<RawConnection> {
    return RawConnection.open(this.url);
  }

  /** Sends a message and waits until the task is parked or ended. @throws Refusal */
  async send(parts: string | readonly unknown[], options: MessageOptions = {}): Promise<TaskView> {
    const params = { message: writtenMessage(parts, options) };
    return sentTask.parse(await this.call('SendMessage', params, options)).task;
  }

  /** Sends a message and returns its stream. @throws Refusal */
  stream(parts: string | readonly unknown[], options: MessageOptions = {}): Promise<EventStream> {
    return this.open('SendStreamingMessage', { message: writtenMessage(parts, options) }, options);
  }

  /** Sends decisions on a task and returns their stream. @throws Refusal */
  decide(
    taskId: string,
    decisions: readonly WrittenDecision[],
    options: MessageOptions = {},
  ): Promise<EventStream> {
    return this.stream([decisionsPart(decisions)], { taskId, ...options });
  }

  /** Follows a task from its current state or, with a cursor, from the next event. @throws Refusal */
  follow(taskId: string, cursor?: number | string, options: Sending = {}): Promise<EventStream> {
    const headers = {
      ...options.headers,
      ...(cursor !== undefined && { [LAST_EVENT_ID_HEADER]: String(cursor) }),
    };
    return this.open('SubscribeToTask', { id: taskId }, { ...options, headers });
  }

  async task(taskId: string): Promise<TaskView> {
    return readTask(await this.call('GetTask', { id: taskId }));
  }

  async list(params: object = {}): Promise<TaskView[]> {
    return listed.parse(await this.call('ListTasks', params)).tasks;
  }

  async cancel(taskId: string, reason?: string): Promise<TaskView> {
    return readTask(await this.call('CancelTask', { id: taskId, ...(reason && { metadata: { reason } }) }));
  }

  async abort(toolId: string, reason?: string): Promise<z.infer<typeof abortAnswer>> {
    const response = await this.request(`/api/tools/abort/${toolId}`, {
      ...(reason !== undefined && { body: JSON.stringify({ reason }) }),
    });
    return abortAnswer.parse(await jsonOf(response));
  }

  /** All events of the task so far. */
  async history(taskId: string): Promise<EventStream['seen']> {
    const { seq } = await this.task(taskId);
    const stream = await this.follow(taskId, 0);
    await stream.until((event) => event.seq === seq);
    stream.connection.destroy();
    return stream.seen;
  }

  /** @returns the result. @throws Refusal */
  async call(method: string, params: unknown, sending: Sending = {}): Promise<unknown> {
    const response = await this.request('/', { ...sending, body: rpcBody(method, params) });
    return resultOf(await jsonOf(response));
  }

  /** @throws Refusal if the answer is not a stream */
  async open(method: string, params: unknown, sending: Sending = {}): Promise<EventStream> {
    const connection = sending.over ?? (await this.connect());
    this.write(connection, '/', { ...sending, body: rpcBody(method, params) });
    return this.opened(connection);
  }

  /** Reads the stream that answers the last request on the connection. @throws Refusal */
  async opened(connection: RawConnection): Promise<EventStream> {
    const response = await connection.response();
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      resultOf(await jsonOf(response));
      throw new Error(`a stream was expected, status ${response.status} came`);
    }
    return new EventStream(connection, response);
  }

  /** Sends one arbitrary request. */
  async request(
    path: string,
    { over, ...request }: Sending & { body?: string | Uint8Array; method?: string } = {},
  ): Promise<RawResponse> {
    const connection = over ?? (await this.connect());
    this.write(connection, path, request);
    return connection.response();
  }

  write(
    connection: RawConnection,
    path: string,
    request: { headers?: Readonly<Record<string, string>>; body?: string | Uint8Array; method?: string },
  ): void {
    connection.write({
      method: request.method ?? 'POST',
      path,
      headers: {
        Authorization: `Bearer ${this.#token}`,
        'A2A-Version': '1.0',
        'A2A-Extensions': `${TOOL_APPROVAL_EXTENSION},${RESUMABLE_STREAM_EXTENSION}`,
        'Content-Type': 'application/json',
        ...request.headers,
      },
      ...(request.body !== undefined && { body: request.body }),
    });
  }
}

const sentTask = z.object({ task: z.unknown().transform(readTask) });
const listed = z.object({ tasks: z.array(z.unknown().transform(readTask)) });
