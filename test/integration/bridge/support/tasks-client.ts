/** Provides the official client of MCP tasks over stdio: the 2.x client and `ext-tasks` on one connection. */
import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  type ApplicationElicitResult,
  createApplicationInputHandler,
  createTaskSessionFromClient,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client';
import { z } from 'zod';
import { type BridgeProgram, type BridgeStart, bridgeCommand } from './bridge-program.ts';

const REVISION = '2026-07-28';
const INFO = { name: 'test', version: '0' };

const answer = z.object({
  id: z.union([z.string(), z.number()]),
  result: z.json().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.json().optional() }).optional(),
});

type Answer = z.infer<typeof answer>;

const acknowledgement = z.looseObject({
  method: z.literal('notifications/subscriptions/acknowledged'),
  params: z.looseObject({ notifications: z.looseObject({ taskIds: z.array(z.string()) }) }),
});
const notification = z.looseObject({ method: z.literal('notifications/tasks'), params: z.looseObject({}) });
const notified = z.union([acknowledgement, notification]);

/**
 * Lets the test send requests that the SDK refuses to encode. They use the client's connection with their own ids.
 */
class SharedTransport implements Transport {
  onmessage: Transport['onmessage'];
  onclose: Transport['onclose'];
  onerror: Transport['onerror'];
  readonly notifications: JSONRPCMessage[] = [];
  readonly #stdio: StdioClientTransport;
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  readonly #arrivals: (() => void)[] = [];
  #id = 0;

  constructor(stdio: StdioClientTransport) {
    this.#stdio = stdio;
    Object.assign(stdio, {
      onmessage: (message: JSONRPCMessage) => this.#take(message),
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => this.onerror?.(error),
    });
  }

  get pid(): number | null {
    return this.#stdio.pid;
  }

  start(): Promise<void> {
    return this.#stdio.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#stdio.send(message);
  }

  close(): Promise<void> {
    return this.#stdio.close();
  }

  async ask(method: string, params: Record<string, unknown>): Promise<Answer> {
    const id = `raw-${String(++this.#id)}`;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    await this.send({ jsonrpc: '2.0', id, method, params });
    return answered;
  }

  /** Returns the next unread notification about tasks. */
  async notified(): Promise<JSONRPCMessage> {
    for (;;) {
      const message = this.notifications.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => this.#arrivals.push(resolve));
    }
  }

  #take(message: JSONRPCMessage): void {
    const parsed = answer.safeParse(message);
    const waiting = parsed.success ? this.#waiting.get(String(parsed.data.id)) : undefined;
    if (waiting !== undefined && parsed.success) return waiting(parsed.data);
    if (notified.safeParse(message).success) {
      this.notifications.push(message);
      for (const arrived of this.#arrivals.splice(0)) arrived();
    } else this.onmessage?.(message);
  }
}

const request = z.looseObject({ method: z.string(), params: z.record(z.string(), z.unknown()).default({}) });

export interface Form {
  message: string;
  requestedSchema: { properties: Record<string, unknown> };
}

const form = z.looseObject({
  message: z.string(),
  requestedSchema: z.looseObject({ properties: z.record(z.string(), z.unknown()) }),
});

/** The notifications of one MCP subscription. */
export interface TaskSubscription {
  /** The task ids that the bridge accepted. */
  accepted: readonly string[];
  /** Returns the task of the next notification. */
  next: () => Promise<unknown>;
  /** The number of unread notifications. */
  waiting: () => number;
}

export interface TasksClient {
  session: TaskEnabledSession;
  client: Client;
  /** Sends a request with the declared capabilities, in the format of `ext-tasks`. */
  ask: (
    method: string,
    params: Record<string, unknown>,
  ) => Promise<{ result?: unknown; error?: { code: number; message: string; data?: unknown } | undefined }>;
  listen: (taskIds: readonly string[]) => Promise<TaskSubscription>;
  pid: number | null;
  close: () => Promise<void>;
}

export interface TasksClientOptions {
  /** The simulated person who answers forms. Without a person, the client declares no forms. */
  person?: (form: Form) => ApplicationElicitResult | Promise<ApplicationElicitResult>;
  /** If true, the client declares the MCP tasks extension. */
  tasks?: boolean;
  /** If true, the client declares that it opens URLs. */
  urls?: boolean;
}

export async function tasksClient(
  program: BridgeProgram,
  start: BridgeStart,
  { person, tasks = true, urls = false }: TasksClientOptions = {},
): Promise<TasksClient> {
  const clientCapabilities = {
    elicitation: { form: {}, ...(urls ? { url: {} } : {}) },
    ...(tasks ? { extensions: { 'io.modelcontextprotocol/tasks': {} } } : {}),
  };
  const client = new Client(INFO, {
    versionNegotiation: { mode: { pin: REVISION } },
    capabilities: clientCapabilities,
  });
  const transport = new SharedTransport(
    new StdioClientTransport({ ...bridgeCommand(program, start), stderr: 'inherit' }),
  );
  await client.connect(transport);
  const session = createTaskSessionFromClient(client, {
    endpointId: 'bridge',
    rawDispatch: async (raw) => {
      const { method, params } = request.parse(raw);
      const { result, error } = await transport.ask(method, params);
      return error === undefined ? { kind: 'result', result: result ?? {} } : { kind: 'error', error };
    },
    v2RequestFraming: { protocolVersion: REVISION, clientInfo: INFO, clientCapabilities },
    ...(person === undefined ? {} : { onInputRequest: askedOf(person) }),
  });
  const withMeta = (params: Record<string, unknown>): Record<string, unknown> => ({
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': REVISION,
      'io.modelcontextprotocol/clientInfo': INFO,
      'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
    },
  });
  return {
    session,
    client,
    ask: (method, params) => transport.ask(method, withMeta(params)),
    listen: async (taskIds) => {
      const subscribed = withMeta({ notifications: { taskIds } });
      await transport.send({
        jsonrpc: '2.0',
        id: 'listening',
        method: 'subscriptions/listen',
        params: subscribed,
      });
      const { params } = acknowledgement.parse(await transport.notified());
      return {
        accepted: params.notifications.taskIds,
        next: async () => notification.parse(await transport.notified()).params,
        waiting: () => transport.notifications.length,
      };
    },
    pid: transport.pid,
    close: async () => {
      await session.close().catch(() => undefined);
      await client.close();
    },
  };
}

const never = (): never => {
  throw new Error('a bridge asks for forms only');
};

function askedOf(
  person: NonNullable<TasksClientOptions['person']>,
): ReturnType<typeof createApplicationInputHandler<void>> {
  return createApplicationInputHandler({
    elicitation: ({ params }) => person(form.parse(params)),
    sampling: never,
    roots: never,
  });
}
