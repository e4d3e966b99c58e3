/**
 * A hand-written A2A 1.0 agent for tests. It also misbehaves on request: it cuts a stream, delays an answer or loses a
 * task. It speaks JSON-RPC, streams with cursors over HTTP+JSON, and both extensions.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { AgentCard, Message, StreamResponse, Task } from '@a2a-js/sdk';
import { z } from 'zod';
import { RESUMABLE_STREAM_EXTENSION } from '../../shared/protocol/resumable-stream-extension.ts';
import {
  type Decision,
  decisionsPartSchema,
  TOOL_APPROVAL_EXTENSION,
} from '../../shared/protocol/tool-approval.ts';
import { FakeTask } from './fake-agent-task.ts';

const rpcRequest = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
});
type RpcRequest = z.infer<typeof rpcRequest>;
const pageTarget = z.strictObject({ taskId: z.string(), callId: z.string(), shown: z.string() });

export interface FakeAgentOptions {
  /** The agent's reaction to a message. */
  onMessage?: (task: FakeTask, text: string) => void;
  onDecisions?: (task: FakeTask, decisions: readonly Decision[]) => void;
  /** The extensions on the agent card; defaults to both. */
  extensions?: readonly string[];
  /** The input modes on the agent card; defaults to text. */
  inputModes?: readonly string[];
  token?: string;
  /** The value of `streaming` on the agent card; true by default. */
  streaming?: boolean;
  /** If set, the agent makes page links that are valid for this many milliseconds. */
  pageLinksMs?: number;
  /** The port to listen on, e.g. that of an earlier agent. */
  port?: number;
  /** The tasks of an earlier agent, which this agent continues. */
  tasks?: Map<string, FakeTask>;
}

/** What an agent can change while it runs. The rest is on its card, which the bridge has read. */
export type FakeAgentReactions = Pick<FakeAgentOptions, 'onMessage' | 'onDecisions' | 'pageLinksMs'>;

export class FakeAgent {
  readonly tasks: Map<string, FakeTask>;
  /** The requests so far, in order. `method` is the JSON-RPC method or the path. */
  readonly requests: {
    method: string;
    params: Record<string, unknown>;
    headers: IncomingMessage['headers'];
  }[] = [];
  readonly decisions: Decision[] = [];
  readonly aborted: string[] = [];
  /** The bodies of the abort requests. */
  readonly abortRequests: unknown[] = [];
  /** The targets of the page links that were requested. */
  readonly pageTargets: z.infer<typeof pageTarget>[] = [];
  /** The agent awaits this before it answers messages. */
  gate: Promise<void> = Promise.resolve();
  /** True if the agent says that it cannot write its journal. */
  journalUnreachable = false;
  /** The number of events after which the agent cuts each stream. Undefined means never. */
  cutAfter: number | undefined;
  #options: FakeAgentOptions;
  /** The number of tasks that the agent has forgotten. */
  #forgotten = 0;
  readonly #server: Server;
  readonly #byMessage = new Map<string, FakeTask>();
  readonly #streams = new Set<ServerResponse>();
  readonly #arrivals = new Set<() => void>();

  private constructor(options: FakeAgentOptions) {
    this.#options = options;
    this.tasks = options.tasks ?? new Map<string, FakeTask>();
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(options: FakeAgentOptions = {}): Promise<FakeAgent> {
    const agent = new FakeAgent(options);
    await new Promise<void>((resolve) => agent.#server.listen(options.port ?? 0, '127.0.0.1', resolve));
    return agent;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  /** The agent's only task. @throws if the agent has no task or several */
  get task(): FakeTask {
    const [task, ...others] = this.tasks.values();
    if (task === undefined || others.length > 0) throw new Error(`${String(this.tasks.size)} tasks`);
    return task;
  }

  count(method: string): number {
    return this.requests.filter((request) => request.method === method).length;
  }

  /** Resolves after the agent has received this number of requests with the method. */
  async asked(method: string, times = 1): Promise<void> {
    while (this.count(method) < times) {
      await new Promise<void>((resolve) => {
        const arrived = (): void => {
          this.#arrivals.delete(arrived);
          resolve();
        };
        this.#arrivals.add(arrived);
      });
    }
  }

  /** Forgets its tasks and its record of requests, and reacts in another way. Its next tasks have new ids. */
  become({ onMessage, onDecisions, pageLinksMs }: FakeAgentReactions): void {
    const { onMessage: _, onDecisions: __, pageLinksMs: ___, ...card } = this.#options;
    this.#options = {
      ...card,
      ...(onMessage && { onMessage }),
      ...(onDecisions && { onDecisions }),
      ...(pageLinksMs !== undefined && { pageLinksMs }),
    };
    this.#forgotten += this.tasks.size;
    this.tasks.clear();
    this.#byMessage.clear();
    for (const record of [this.requests, this.decisions, this.aborted, this.abortRequests, this.pageTargets])
      record.length = 0;
    this.gate = Promise.resolve();
    this.cutAfter = undefined;
  }

  /** Holds back answers to messages. @returns a function that releases them */
  hold(): () => void {
    const { promise, release } = gate();
    this.gate = promise;
    return release;
  }

  /** Resets every open stream. */
  cutStreams(): void {
    for (const stream of this.#streams) stream.socket?.resetAndDestroy();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const path = request.url ?? '/';
    if (path.startsWith('/.well-known/agent-card.json')) return answer(response, this.#card());
    if (
      this.#options.token !== undefined &&
      request.headers.authorization !== `Bearer ${this.#options.token}`
    ) {
      response.writeHead(401).end('no token');
      return;
    }
    const subscribe = /^\/tasks\/([^:]+):subscribe$/.exec(path)?.[1];
    const abort = /^\/api\/tools\/abort\/(.+)$/.exec(path)?.[1];
    const rpc = rpcRequest.safeParse(body === '' ? {} : JSON.parse(body));
    const method =
      subscribe !== undefined ? 'subscribe' : abort !== undefined ? 'abort' : (rpc.data?.method ?? path);
    this.requests.push({ method, params: rpc.data?.params ?? {}, headers: request.headers });
    for (const arrived of this.#arrivals) arrived();
    if (subscribe !== undefined) return this.#resume(subscribe, request, response);
    if (abort !== undefined) {
      this.aborted.push(abort);
      this.abortRequests.push(JSON.parse(body));
      return answer(response, { success: abort.startsWith('live'), message: `asked to abort ${abort}` });
    }
    if (path === '/page/links' && this.#options.pageLinksMs !== undefined) {
      this.pageTargets.push(pageTarget.parse(JSON.parse(body)));
      const url = `${this.url}/page#code=${String(this.count('/page/links'))}`;
      const expiresAt = new Date(Date.now() + this.#options.pageLinksMs).toISOString();
      return answer(response, { url, expiresAt });
    }
    if (path === '/readyz' && this.journalUnreachable) {
      response.writeHead(503, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status: 'unavailable', reasons: ['journal-unreachable'] }));
      return;
    }
    if (rpc.success) return this.#call(rpc.data, response);
    response.writeHead(404).end('nothing here');
  }

  async #call({ id, method, params }: RpcRequest, response: ServerResponse): Promise<void> {
    const result = (value: unknown): void => answer(response, { jsonrpc: '2.0', id, result: value });
    switch (method) {
      case 'SendStreamingMessage': {
        const message = Message.fromJSON(params['message']);
        await this.gate;
        const task = this.#take(message);
        const wrap = (event: StreamResponse): object => ({
          jsonrpc: '2.0',
          id,
          result: StreamResponse.toJSON(event),
        });
        // The stream starts with the task in its state before the message takes effect. The events of the message
        // follow.
        const act = this.#accept(task, message);
        const pump = this.#stream(response, task, task.seq, { wrap, first: asEvent(task) });
        act();
        return pump();
      }
      case 'SendMessage': {
        const message = Message.fromJSON(params['message']);
        await this.gate;
        const task = this.#take(message);
        this.#accept(task, message)();
        return result({ task: Task.toJSON(task.toTask()) });
      }
      case 'GetTask': {
        const task = this.tasks.get(String(params['id']));
        return task === undefined ? notFound(response, id) : result(Task.toJSON(task.toTask()));
      }
      case 'CancelTask': {
        const task = this.tasks.get(String(params['id']));
        return task === undefined ? notFound(response, id) : result(Task.toJSON(task.cancel().toTask()));
      }
      case 'ListTasks': {
        const all = [...this.tasks.values()].toReversed();
        const wanted = all.filter(
          (task) => params['contextId'] === undefined || task.contextId === params['contextId'],
        );
        return result({
          tasks: wanted.map((task) => Task.toJSON(task.toTask())),
          nextPageToken: '',
          pageSize: 100,
          totalSize: wanted.length,
        });
      }
      default:
        return answer(response, {
          jsonrpc: '2.0',
          id,
          error: { code: -32601, message: `no method ${method}` },
        });
    }
  }

  /** Finds the task of a message. A repeated message gets its first task. */
  #take(message: Message): FakeTask {
    const known = this.#byMessage.get(message.messageId) ?? this.tasks.get(message.taskId);
    const number = String(this.#forgotten + this.tasks.size + 1);
    const context = message.contextId === '' ? `session-${number}` : message.contextId;
    const task =
      known ?? new FakeTask(`task-${number}`, context, this.#extensions.includes(RESUMABLE_STREAM_EXTENSION));
    this.tasks.set(task.id, task);
    return task;
  }

  /** @returns a function that gives the message to the task. For a repeated message, the function does nothing. */
  #accept(task: FakeTask, message: Message): () => void {
    if (this.#byMessage.has(message.messageId)) return () => undefined;
    this.#byMessage.set(message.messageId, task);
    task.messages.push(message);
    const data = message.parts.flatMap((each) =>
      each.content?.$case === 'data' ? [each.content.value] : [],
    )[0];
    const decided = decisionsPartSchema.safeParse(data);
    if (decided.success) {
      this.decisions.push(...decided.data.decisions);
      task.decide(decided.data.decisions.map((each) => each.callId));
      return () => this.#options.onDecisions?.(task, decided.data.decisions);
    }
    const text = message.parts
      .map((each) => (each.content?.$case === 'text' ? each.content.value : ''))
      .join('');
    return () => this.#options.onMessage?.(task, text);
  }

  #resume(id: string, request: IncomingMessage, response: ServerResponse): void {
    const task = this.tasks.get(id);
    if (task === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          error: {
            code: 404,
            status: 'NOT_FOUND',
            message: 'Task not found',
            details: [
              {
                '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
                reason: 'TASK_NOT_FOUND',
                domain: 'a2a-protocol.org',
              },
            ],
          },
        }),
      );
      return;
    }
    const cursor = request.headers['last-event-id'];
    const pump =
      typeof cursor === 'string'
        ? this.#stream(response, task, Number(cursor), { wrap: bare, until: 'ended' })
        : this.#stream(response, task, task.seq, { wrap: bare, first: asEvent(task), until: 'ended' });
    pump();
  }

  /** @returns a function that writes the events so far. The agent writes later events when they occur. */
  #stream(
    response: ServerResponse,
    task: FakeTask,
    after: number,
    {
      wrap,
      first,
      until = 'settled',
    }: { wrap: (event: StreamResponse) => unknown; first?: StreamResponse; until?: 'settled' | 'ended' },
  ): () => void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#streams.add(response);
    let written = 0;
    let position = after;
    const write = (seq: number, event: StreamResponse): void => {
      response.write(`id: ${String(seq)}\ndata: ${JSON.stringify(wrap(event))}\n\n`);
      written += 1;
    };
    const pump = (): void => {
      for (const { seq, event } of task.events) {
        if (seq <= position || response.writableEnded || response.destroyed) continue;
        if (this.cutAfter !== undefined && written >= this.cutAfter) {
          response.socket?.destroySoon();
          return;
        }
        write(seq, event);
        position = seq;
      }
      if (task[until] && position >= task.seq) response.end();
    };
    if (first !== undefined) write(after, first);
    const stop = task.onChange(pump);
    response.once('close', () => {
      stop();
      this.#streams.delete(response);
    });
    return pump;
  }

  get #extensions(): readonly string[] {
    return this.#options.extensions ?? [TOOL_APPROVAL_EXTENSION, RESUMABLE_STREAM_EXTENSION];
  }

  #card(): unknown {
    return AgentCard.toJSON(
      AgentCard.fromJSON({
        name: 'fake agent',
        description: 'An agent for tests.',
        version: '9.8.7',
        supportedInterfaces: [
          { url: this.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
          { url: this.url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        ],
        capabilities: {
          streaming: this.#options.streaming ?? true,
          extensions: this.#extensions.map((uri) => ({ uri })),
        },
        defaultInputModes: this.#options.inputModes ?? ['text/plain'],
        skills: [{ id: 'fake', name: 'Fake', description: 'Pretends.' }],
      }),
    );
  }
}

function gate(): { promise: Promise<void>; release: () => void } {
  const opened: { release?: () => void } = {};
  const promise = new Promise<void>((resolve) => {
    opened.release = resolve;
  });
  return { promise, release: () => opened.release?.() };
}

/** An event in the HTTP+JSON stream format. */
function bare(event: StreamResponse): unknown {
  return StreamResponse.toJSON(event);
}

function asEvent(task: FakeTask): StreamResponse {
  return { payload: { $case: 'task', value: task.toTask() } };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

function answer(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

function notFound(response: ServerResponse, id: string | number): void {
  answer(response, { jsonrpc: '2.0', id, error: { code: -32001, message: 'Task not found' } });
}
