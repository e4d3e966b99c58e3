/**
 * A fake of gemini-cli's a2a-server: a real HTTP server that speaks A2A 0.3 over JSON-RPC with that agent's
 * deviations and faults. It follows the observed behaviour of 0.25, checked against the sources of
 * google-gemini/gemini-cli, `packages/a2a-server/src`: `http/app.ts`, `agent/executor.ts`, `types.ts` at 04f8be5,
 * `agent/task.ts` at 010acdb.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { GeminiTask, type GeminiOptions, type Step, type WireEvent } from './fake-gemini-task.ts';

const rpc = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.string(),
  params: z.looseObject({
    id: z.string().optional(),
    historyLength: z.number().optional(),
    message: z
      .looseObject({
        messageId: z.string(),
        taskId: z.string().optional(),
        contextId: z.string().optional(),
        parts: z.array(
          z.looseObject({
            kind: z.string(),
            text: z.string().optional(),
            data: z.record(z.string(), z.unknown()).optional(),
          }),
        ),
        metadata: z.record(z.string(), z.unknown()).optional(),
      })
      .optional(),
  }),
});
type Rpc = z.infer<typeof rpc>;

export class FakeGemini {
  readonly tasks = new Map<string, GeminiTask>();
  /** Requested JSON-RPC methods and paths, in order. */
  readonly requests: string[] = [];
  /** The number of next messages that the agent handles without an answer: it resets their connection. */
  dropAnswers = 0;
  readonly ways: GeminiOptions = { forgets: false };
  /** Counts the closed sockets of messages. In `ended`, the client sent FIN, which the agent treats as an abort. */
  readonly sockets = { ended: 0, closed: 0 };
  readonly #plan: (text: string) => Iterable<Step>;
  readonly #server: Server;
  readonly #streams = new Set<ServerResponse>();

  private constructor(plan: (text: string) => Iterable<Step>) {
    this.#plan = plan;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(plan: (text: string) => Iterable<Step>, port = 0): Promise<FakeGemini> {
    const agent = new FakeGemini(plan);
    await new Promise<void>((resolve) => agent.#server.listen(port, '127.0.0.1', resolve));
    return agent;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return `http://127.0.0.1:${String(address.port)}/`;
  }

  get task(): GeminiTask {
    const [task, ...others] = this.tasks.values();
    if (task === undefined || others.length > 0) throw new Error(`${String(this.tasks.size)} tasks`);
    return task;
  }

  /** Resets every open stream, like a network failure. */
  cutStreams(): void {
    for (const stream of this.#streams) stream.socket?.resetAndDestroy();
  }

  /** Resolves when this number of message sockets has closed. */
  async closed(count: number): Promise<void> {
    while (this.sockets.closed < count) await once(this.#server, 'socket-closed');
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const path = request.url ?? '/';
    if (path === '/.well-known/agent-card.json') return json(response, cardAt(this.url));
    if (path === '/tasks/metadata') {
      this.requests.push(path);
      const all = [...this.tasks.values()].map(({ id, contextId, state }) => ({
        id,
        contextId,
        taskState: state,
        model: 'gemini-x',
      }));
      if (all.length > 0) return json(response, all);
      response.writeHead(204).end();
      return;
    }
    if (path === '/listCommands') return json(response, COMMANDS);
    if (path === '/executeCommand') {
      this.requests.push(`${path} ${body}`);
      return execute(response, body);
    }
    const call = rpc.safeParse(body === '' ? undefined : JSON.parse(body));
    if (!call.success) {
      response.writeHead(404).end('not found');
      return;
    }
    this.requests.push(call.data.method);
    return this.#call(call.data, request, response);
  }

  #call({ id, method, params }: Rpc, request: IncomingMessage, response: ServerResponse): void {
    const answer = (part: object): void => json(response, { jsonrpc: '2.0', id, ...part });
    if (method === 'message/stream' && params.message !== undefined) {
      const { message } = params;
      const known = message.taskId === undefined ? undefined : this.tasks.get(message.taskId);
      if (message.taskId !== undefined && known === undefined) return answer({ error: NOT_FOUND });
      const task = known ?? this.#create(message.contextId, message.metadata?.['coderAgent']);
      const opened = this.#stream(task, id, response);
      if (known === undefined) opened({ ...task.toWire(0), kind: 'task' });
      // A keep-alive connection gets one listener per message.
      request.socket.setMaxListeners(0);
      request.socket.once('end', () => {
        this.sockets.ended += 1;
        task.socketEnded();
      });
      request.socket.once('close', () => {
        this.sockets.closed += 1;
        this.#server.emit('socket-closed');
      });
      void task.accept(message, this.#plan);
      return;
    }
    const task = this.tasks.get(params.id ?? '');
    if (task === undefined) return answer({ error: NOT_FOUND });
    switch (method) {
      case 'tasks/get':
        return answer({ result: task.toWire(params.historyLength ?? 0) });
      case 'tasks/cancel':
        task.cancel();
        return answer({ result: task.toWire(0) });
      case 'tasks/resubscribe': {
        this.#stream(task, id, response)({ ...task.toWire(Infinity), kind: 'task' });
        return;
      }
      default:
        return answer({ error: { code: -32601, message: 'Method not found' } });
    }
  }

  #create(contextId: string | undefined, settings: unknown): GeminiTask {
    const task = new GeminiTask(contextId ?? `context-${String(this.tasks.size + 1)}`, settings, this.ways);
    this.tasks.set(task.id, task);
    return task;
  }

  /** Gives the events of a task to each of its open streams. A stream ends after the first final event. */
  #stream(task: GeminiTask, id: string | number, response: ServerResponse): (event: WireEvent) => void {
    const drop = this.dropAnswers > 0 && this.dropAnswers-- > 0;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#streams.add(response);
    const write = (event: WireEvent): void => {
      if (drop) {
        response.socket?.resetAndDestroy();
        return;
      }
      response.write(
        `id: ${String(Date.now())}\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: event })}\n\n`,
      );
      if (event.final === true) {
        stop();
        response.end();
      }
    };
    const stop = task.listen(write);
    response.once('close', () => {
      stop();
      this.#streams.delete(response);
    });
    return write;
  }
}

const NOT_FOUND = { code: -32001, message: 'Task not found' };

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function cardAt(url: string): object {
  return {
    name: 'Gemini SDLC Agent',
    description:
      'An agent that generates code based on natural language instructions and streams file outputs.',
    url,
    provider: { organization: 'Google', url: 'https://google.com' },
    protocolVersion: '0.3.0',
    version: '0.0.2',
    capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: true },
    defaultInputModes: ['text'],
    defaultOutputModes: ['text'],
    skills: [{ id: 'code_generation', name: 'Code Generation', description: '', tags: ['code'] }],
    supportsAuthenticatedExtendedCard: false,
  };
}

/** The command list in the agent's format: subcommands are nested, with full names. */
const COMMANDS = {
  commands: [
    {
      name: 'restore',
      description: 'Restore to a previous checkpoint.',
      arguments: [],
      subCommands: [
        {
          name: 'restore list',
          description: 'Lists all available checkpoints.',
          arguments: [],
          subCommands: [],
        },
      ],
    },
    { name: 'init', description: 'Makes a GEMINI.md.', arguments: [], subCommands: [] },
  ],
};

const executeRequest = z.object({ command: z.string(), args: z.array(z.string()).optional() });

function execute(response: ServerResponse, body: string): void {
  const { command, args = [] } = executeRequest.parse(JSON.parse(body));
  const said = (messageType: string, content: string): void =>
    json(response, { name: command, data: { type: 'message', messageType, content } });
  if (command === 'restore list') return said('info', '[{"checkpoint":"one"}]');
  if (command === 'restore')
    return args.length === 0
      ? said('error', 'Please provide a checkpoint name to restore.')
      : json(response, { name: command, data: [{ type: 'load_history' }] });
  if (command === 'init') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: {"jsonrpc":"2.0","id":"t","result":{}}\n');
    return;
  }
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: `Command not found: ${command}` }));
}
