/** An MCP client that writes raw lines. It can send messages that no SDK sends, and it reads every byte of stdout. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type BridgeProgram, type BridgeStart, bridgeCommand } from './bridge-program.ts';

const line = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
export type Line = z.infer<typeof line>;

const toolResult = z.looseObject({
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
  structuredContent: z.looseObject({}).optional(),
  isError: z.boolean().optional(),
});
export type ToolResult = z.infer<typeof toolResult>;

export class RawClient {
  readonly process: ChildProcessWithoutNullStreams;
  /** The lines of stdout that are not JSON-RPC. There must be none (B2). */
  readonly invalidLines: string[] = [];
  readonly notifications: Line[] = [];
  #id = 0;
  readonly #waiting = new Map<string | number, (answer: Line) => void>();
  #stderr = '';

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.process = child;
    child.stderr.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
    createInterface({ input: child.stdout }).on('line', (text) => this.#read(text));
  }

  static async start(program: BridgeProgram, start: BridgeStart): Promise<RawClient> {
    const client = RawClient.spawn(program, start);
    await client.initialize();
    return client;
  }

  /** Starts a bridge process, and sends it no message yet. */
  static spawn(program: BridgeProgram, start: BridgeStart): RawClient {
    const { command, args, env } = bridgeCommand(program, start);
    return new RawClient(spawn(command, args, { env }));
  }

  async initialize(): Promise<void> {
    await this.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '0' },
    });
    this.notify('notifications/initialized', {});
  }

  get stderr(): string {
    return this.#stderr;
  }

  notify(method: string, params: object): void {
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  /** Sends a request. Returns the request's id and a promise of its answer. */
  send(
    method: string,
    params: unknown,
    id: string | number = ++this.#id,
  ): { id: string | number; answer: Promise<Line> } {
    const answer = new Promise<Line>((resolve) => this.#waiting.set(id, resolve));
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return { id, answer };
  }

  request(method: string, params: object): Promise<Line> {
    return this.send(method, params).answer;
  }

  async call(name: string, args: object, meta?: object): Promise<ToolResult> {
    const answer = await this.request('tools/call', {
      name,
      arguments: args,
      ...(meta === undefined ? {} : { _meta: meta }),
    });
    return resultOf(answer);
  }

  /** Resolves after the log of the bridge contains text that matches. */
  async logged(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#stderr)) await once(this.process.stderr, 'data');
  }

  /** Resolves after a progress message that matches. */
  async progressed(pattern: RegExp): Promise<void> {
    while (!this.progress().some((each) => pattern.test(each.message)))
      await once(this.process.stdout, 'data');
  }

  progress(): readonly { token: unknown; message: string }[] {
    return this.notifications
      .filter((each) => each.method === 'notifications/progress')
      .map((each) => ({ token: each.params?.['progressToken'], message: String(each.params?.['message']) }));
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exit = once(this.process, 'exit');
    this.process.kill(signal);
    await exit;
  }

  /** Closes stdin, like a client that exits. @returns the exit code */
  async close(): Promise<number | null> {
    if (this.process.exitCode !== null) return this.process.exitCode;
    const exit = once(this.process, 'exit');
    this.process.stdin.end();
    await exit;
    return this.process.exitCode;
  }

  #read(text: string): void {
    let parsed: ReturnType<typeof line.safeParse>;
    try {
      parsed = line.safeParse(JSON.parse(text));
    } catch {
      this.invalidLines.push(text);
      return;
    }
    if (!parsed.success) {
      this.invalidLines.push(text);
      return;
    }
    const { id } = parsed.data;
    if (id === undefined) this.notifications.push(parsed.data);
    else this.#waiting.get(id)?.(parsed.data);
  }
}

export function resultOf(answer: Line): ToolResult {
  if (answer.error !== undefined) throw new Error(answer.error.message);
  return toolResult.parse(answer.result);
}

export function textOf(result: ToolResult): string {
  return result.content.map((each) => each.text).join('\n');
}

/** @returns the text of a result that reports an error (B4). @throws if it reports none */
export function refusalOf(result: ToolResult): string {
  if (result.isError !== true) throw new Error(`the call was not refused: ${textOf(result)}`);
  return textOf(result);
}

/** @returns the id of the session that a result names. @throws if it names none */
export function sessionOf({ structuredContent }: ToolResult): string {
  return z.string().parse(structuredContent?.['sessionId']);
}
