/**
 * One session of the test MCP server. The JSON-RPC is hand-written, so that the server can also break the protocol.
 */
import { z } from 'zod';

export const message = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
  result: z.looseObject({}).optional(),
});
export type Message = z.infer<typeof message>;

/** The server's fault from its start. */
export const fault = z.enum([
  'none',
  'rubbish',
  'rubbish-only',
  'silent',
  'exits',
  'long-line',
  'no-tools',
  'endless-pages',
  'page-loop',
  'many-tools',
  'bad-tools',
  'exits-at-discover',
  'silent-at-discover',
  'post-400',
  'post-404',
  'post-405',
  'forgotten-400',
  'calls-404',
  'calls-400',
]);
export type Fault = z.infer<typeof fault>;

/** More characters than the agent accepts in a message, which is 16 MiB. */
export const MORE_THAN_A_MESSAGE = 20 * 1024 * 1024;

/** The transport of a session. */
interface Wire {
  /** @param about the id of the request that the message belongs to, for transports with one stream per request */
  send: (message: object, about?: string | number) => void;
  /** Closes the connection before it sends an answer. */
  drop: () => void;
  fault: Fault;
}

const call = z.looseObject({
  name: z.string(),
  arguments: z.looseObject({ text: z.string().optional(), ms: z.number().optional() }).default({}),
  _meta: z.looseObject({ progressToken: z.union([z.string(), z.number()]).optional() }).optional(),
});
type Call = z.infer<typeof call>;

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { text: { type: 'string', description: 'What.' }, ms: { type: 'number' } },
  additionalProperties: false,
};

const READ_ONLY = new Set(['look', 'look-and-drop', 'cancelled']);

const NAMES = [
  'look',
  'look-and-drop',
  'cancelled',
  'note',
  'fail',
  'never',
  'drop',
  'exit',
  'progress',
  'grow',
  'shrink',
  'ask',
  'rich',
  'flood',
  'slow',
  'release',
  'say',
  'big',
];
/** The number of tools at the start. */
export const PEER_TOOLS = NAMES.length;

/** State shared by all sessions of a process. */
export interface Shared {
  tools: string[];
  /** Calls so far, by tool. */
  calls: Record<string, number>;
  /** The reason of each cancelled call. */
  cancelled: string[];
  /** Ends the running calls of the tool `slow`. */
  release: (() => void)[];
  questions: number;
}

export function newShared(): Shared {
  return { tools: [...NAMES], calls: {}, cancelled: [], release: [], questions: 0 };
}

const cancellation = z.looseObject({
  requestId: z.union([z.string(), z.number()]),
  reason: z.string().optional(),
});

export class Session {
  readonly #wire: Wire;
  readonly #shared: Shared;
  #ready = false;
  readonly #asked = new Map<string | number, (result: unknown) => void>();
  readonly #never = new Map<string | number, true>();

  constructor(wire: Wire, shared: Shared) {
    this.#wire = wire;
    this.#shared = shared;
  }

  take(raw: unknown): void {
    const { id, method, params, result } = message.parse(raw);
    if (method === undefined) {
      this.#asked.get(id ?? '')?.(result);
      return;
    }
    if (method === 'notifications/initialized') this.#ready = true;
    if (method === 'notifications/cancelled') {
      const { requestId, reason = '' } = cancellation.parse(params);
      if (this.#never.delete(requestId)) this.#shared.cancelled.push(reason);
    }
    if (id === undefined || this.#wire.fault === 'silent') return;
    if (method === 'server/discover' && this.#wire.fault === 'silent-at-discover') return;
    if (method === 'server/discover' && this.#wire.fault === 'exits-at-discover') process.exit(2);
    // Like servers of the older transport, this server requires the handshake before any other request.
    if (method !== 'initialize' && !this.#ready) return this.#refuse(id, 'the session was not initialized');
    void this.#answer(id, method, params);
  }

  async #answer(id: string | number, method: string, params: unknown): Promise<void> {
    switch (method) {
      case 'initialize':
        return this.#reply(id, {
          protocolVersion: z.looseObject({ protocolVersion: z.string() }).parse(params).protocolVersion,
          capabilities: this.#wire.fault === 'no-tools' ? {} : { tools: { listChanged: true } },
          serverInfo: { name: 'peer', version: '1' },
        });
      case 'tools/list':
        return this.#reply(id, listOf(this.#wire.fault, this.#shared.tools, params));
      case 'tools/call':
        return this.#call(id, call.parse(params));
      default:
        return this.#refuse(id, `no method ${method}`);
    }
  }

  async #call(id: string | number, asked: Call): Promise<void> {
    const { name, arguments: input } = asked;
    const { calls } = this.#shared;
    calls[name] = (calls[name] ?? 0) + 1;
    switch (name) {
      case 'look':
      case 'note':
        if (input.ms !== undefined) await new Promise((resolve) => setTimeout(resolve, input.ms));
        return this.#say(id, `${name}: ${input.text ?? ''} (pid ${process.pid})`);
      case 'look-and-drop':
        // The first call gets no answer, and the second call gets one.
        if (calls[name] === 1) return this.#wire.drop();
        return this.#say(id, 'seen at last');
      case 'cancelled':
        return this.#say(id, JSON.stringify(this.#shared.cancelled));
      case 'fail':
        return this.#reply(id, { content: [{ type: 'text', text: 'the disk is full' }], isError: true });
      case 'never':
        this.#never.set(id, true);
        return;
      case 'drop':
        return this.#wire.drop();
      case 'exit':
        process.stderr.write('out of memory, or so\n');
        process.exit(3);
        return;
      case 'progress':
        return this.#progress(id, asked);
      case 'grow':
      case 'shrink':
        if (name === 'grow') this.#shared.tools.push('newcomer');
        else this.#shared.tools = this.#shared.tools.filter((it) => it !== 'note');
        this.#wire.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
        return this.#say(id, 'changed');
      case 'ask':
        return this.#ask(id);
      case 'rich':
        return this.#reply(id, RICH);
      case 'flood':
        return this.#say(id, 'x'.repeat(MORE_THAN_A_MESSAGE));
      case 'slow':
        // This tool ignores the client's cancellation of the call.
        await new Promise<void>((resolve) => this.#shared.release.push(resolve));
        return this.#say(id, `done at last: ${input.text ?? ''}`);
      case 'release':
        for (const resolve of this.#shared.release.splice(0)) resolve();
        return this.#say(id, 'released');
      case 'say':
        this.#notify(id, 'notifications/message', { level: 'info', data: 'line one\nline two' });
        this.#notify(id, 'notifications/message', { level: 'warning', logger: 'disk', data: { free: 1 } });
        this.#notify(id, 'notifications/message', { level: 'debug', data: 'internals' });
        return this.#say(id, 'said');
      case 'big':
        return this.#say(id, `first ${'x'.repeat(50_000)} middle ${'y'.repeat(50_000)} last`);
      case 'newcomer':
        return this.#say(id, 'new here');
      default:
        return this.#refuse(id, `no tool ${name}`);
    }
  }

  #progress(id: string | number, { _meta }: Call): void {
    for (const progress of [1, 2])
      this.#wire.send(
        {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: _meta?.progressToken, progress, total: 4, message: `step ${progress}` },
        },
        id,
      );
    this.#say(id, 'worked');
  }

  async #ask(about: string | number): Promise<void> {
    const id = `question-${(this.#shared.questions += 1)}`;
    const answer = new Promise((resolve) => this.#asked.set(id, resolve));
    const requestedSchema = {
      type: 'object',
      properties: { colour: { type: 'string', enum: ['red', 'blue'] } },
      required: ['colour'],
    };
    const params = { message: 'Which colour?', requestedSchema };
    this.#wire.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params }, about);
    this.#say(about, JSON.stringify(await answer));
  }

  #notify(about: string | number, method: string, params: object): void {
    this.#wire.send({ jsonrpc: '2.0', method, params }, about);
  }

  #say(id: string | number, text: string): void {
    this.#reply(id, { content: [{ type: 'text', text }] });
  }

  #reply(id: string | number, result: object): void {
    this.#wire.send({ jsonrpc: '2.0', id, result }, id);
  }

  #refuse(id: string | number, text: string): void {
    this.#wire.send({ jsonrpc: '2.0', id, error: { code: -32600, message: text } }, id);
  }
}

const RICH = {
  content: [
    { type: 'text', text: 'words' },
    { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside' } },
    { type: 'resource_link', uri: 'file:///b.txt', name: 'b', description: 'another' },
    { type: 'hologram' },
  ],
  structuredContent: { answer: 42 },
};

function listOf(wrong: Fault, names: readonly string[], params: unknown): object {
  const tools = names.map(toolOf);
  switch (wrong) {
    case 'endless-pages': {
      const { cursor = '0' } = z.looseObject({ cursor: z.string().optional() }).parse(params ?? {});
      return { tools: [], nextCursor: String(Number(cursor) + 1) };
    }
    case 'page-loop':
      return { tools, nextCursor: 'again' };
    case 'many-tools':
      return { tools: Array.from({ length: 10_000 }, (_, n) => toolOf(`tool-${n}`)) };
    case 'bad-tools':
      return { tools: [...BAD, ...tools] };
    case 'none':
    case 'rubbish':
    case 'rubbish-only':
    case 'silent':
    case 'exits':
    case 'long-line':
    case 'no-tools':
    case 'exits-at-discover':
    case 'silent-at-discover':
    case 'post-400':
    case 'post-404':
    case 'post-405':
    case 'forgotten-400':
    case 'calls-404':
    case 'calls-400':
      return { tools };
  }
}

function toolOf(name: string): object {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: SCHEMA,
    annotations: { readOnlyHint: READ_ONLY.has(name) },
  };
}

const BAD = [
  { name: 'no-object', inputSchema: { type: 'string' } },
  { name: 'no-schema' },
  { name: 'dangling', inputSchema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } },
  { name: 'huge', inputSchema: { type: 'object', description: 'x'.repeat(100_000) } },
  { name: 'look', description: 'The first of this name.', inputSchema: { type: 'object' } },
  { inputSchema: { type: 'object' } },
  'no tool at all',
];
