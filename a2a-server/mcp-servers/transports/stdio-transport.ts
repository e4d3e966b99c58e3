/**
 * Transports MCP over stdin and stdout of a child process (MCP 2025-11-25, Transports: stdio).
 *
 * The SDK's own transport does not end grandchildren. Here, the child process leads a process group, and the end of the
 * connection ends the whole group. The environment of the child process has no secrets. X3: its output has a size
 * limit. Lines on stdout that are not messages are ignored, up to a limit. stderr goes to the log.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { deserializeMessage, serializeMessage, type JSONRPCMessage } from '@modelcontextprotocol/client';
import spawn from 'cross-spawn';
import { errorCode } from '../../../shared/runtime/errors.ts';
import { resultWithin } from '../../runtime/timeout.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { commandEnvironment } from '../../tools/shell/command-environment.ts';
import { endProcessGroup } from '../../processes/end-process-group.ts';
import { LineSplitter } from '../../../shared/net/line-splitter.ts';
import {
  MAX_MCP_MESSAGE_BYTES,
  MessageNotDeliveredError,
  ProgramNotStartedError,
  type McpTransport,
  type McpTransportContext,
} from './server-transport.ts';

/** The delay between the end of stdin and SIGTERM. A server can clean up and exit in this time. */
const STDIN_END_MS = 1_000;
/** The time that the transport waits for the last output after the exit of the program. */
const DRAIN_MS = 200;
/** The maximum number of lines on stdout that are not messages. A program with more such lines is not an MCP server. */
const MAX_NOT_MESSAGES = 1_000;
/** The maximum length of a logged stderr line, in bytes. A longer line is not logged. */
const MAX_LOG_LINE_BYTES = 8 * 1024;
const MAX_STDERR_LOG_LINES = 1_000;

interface StdioServerParameters {
  command: string;
  args: readonly string[];
  /** Variables in addition to the harmless variables of command-environment.ts. */
  env: Readonly<Record<string, string>>;
  cwd?: string | undefined;
}

export class McpStdioTransport implements McpTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  onsend?: (message: JSONRPCMessage) => void;
  /**
   * The SDK recognises a transport to a child process by its fields `stderr` and `pid`, so this class has both. If a
   * child process does not answer a probe, the SDK assumes an older server (MCP 2026-07-28, stdio, Backward
   * Compatibility).
   */
  readonly stderr = null;
  readonly #program: StdioServerParameters;
  readonly #context: McpTransportContext;
  #child: ChildProcess | undefined;
  #ending: Promise<void> | undefined;
  #why: string | undefined;
  #notMessages = { lines: 0, first: '' };
  #logged = { lines: 0, last: '' };

  constructor(program: StdioServerParameters, context: McpTransportContext) {
    this.#program = program;
    this.#context = context;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get trouble(): string | undefined {
    const { first } = this.#notMessages;
    const { last } = this.#logged;
    const facts = [
      this.#why,
      first === '' ? undefined : `printed a line on stdout that is not a JSON-RPC message: ${first}`,
      last === '' ? undefined : `last line on stderr: ${last}`,
    ].filter((fact) => fact !== undefined);
    return facts.length === 0 ? undefined : facts.join('; ');
  }

  /** @throws ProgramNotStartedError */
  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#program;
    const child = spawn(command, [...args], {
      cwd,
      env: { ...commandEnvironment(this.#context.environment), ...env, ...this.#context.child.env },
      stdio: 'pipe',
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    child.once('exit', (code, signal) => {
      this.#end(signal === null ? `exited with code ${String(code)}` : `exited because of ${signal}`);
    });
    // An error of stdin is ignored, because the exit event and the failed write report a broken pipe.
    child.stdin?.on('error', () => undefined);
    await once(child, 'spawn').catch((error: unknown) => {
      throw startFailure(error, this.#program);
    });
    child.on('error', (error) => this.onerror?.(error));
    this.#child = child;
    if (child.pid !== undefined) await this.#context.child.record(child.pid);
    const stdout = new LineSplitter(MAX_MCP_MESSAGE_BYTES);
    child.stdout?.on('data', (chunk: Buffer) => this.#handleLines(stdout.push(chunk)));
    const stderr = new LineSplitter(MAX_LOG_LINE_BYTES);
    child.stderr?.on('data', (chunk: Buffer) => this.#logLines(stderr.push(chunk).lines));
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.onsend?.(message);
    const stdin = this.#child?.stdin;
    if (!stdin || this.#ending !== undefined)
      return Promise.reject(new MessageNotDeliveredError('the program has exited'));
    return new Promise((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Resolves when no process of the group is left. */
  async close(): Promise<void> {
    this.#end(undefined);
    await this.#ending;
  }

  #handleLines({ lines, tooLong }: { lines: string[]; tooLong: number }): void {
    if (tooLong > 0) this.#end(`sent a line of more than ${MAX_MCP_MESSAGE_BYTES / 1024 / 1024} MiB`);
    for (const line of lines) {
      if (this.#ending !== undefined && this.#why === undefined) return;
      const message = messageIn(line);
      if (message !== undefined) this.onmessage?.(message);
      else if (line.trim() !== '') this.#countOtherLine(line);
    }
  }

  #countOtherLine(line: string): void {
    if (this.#notMessages.lines === 0) {
      this.#notMessages.first = oneLineExcerpt(line, 120);
      this.#context.log.warn(
        { line: this.#notMessages.first },
        'the MCP server printed a line on stdout that is not a JSON-RPC message',
      );
    }
    this.#notMessages.lines += 1;
    if (this.#notMessages.lines === MAX_NOT_MESSAGES)
      this.#end('printed too many lines on stdout that are not JSON-RPC messages');
  }

  #logLines(lines: readonly string[]): void {
    for (const line of lines) {
      if (line.trim() === '') continue;
      this.#logged.last = oneLineExcerpt(line, 200);
      this.#logged.lines += 1;
      if (this.#logged.lines > MAX_STDERR_LOG_LINES) return;
      const last = this.#logged.lines === MAX_STDERR_LOG_LINES;
      this.#context.log.info(
        { line },
        last ? 'stderr (the server logs no further lines of this process)' : 'stderr',
      );
    }
  }

  /** Ends the connection once. @param why undefined if the client ends the connection */
  #end(why: string | undefined): void {
    if (this.#ending !== undefined || this.#child === undefined) return;
    this.#why = why;
    this.#ending = this.#endProcess(this.#child, why !== undefined).catch((error: unknown) => {
      this.#context.log.warn({ err: error }, 'an MCP server process did not end');
    });
  }

  async #endProcess(child: ChildProcess, failed: boolean): Promise<void> {
    const { clock, graceMs } = this.#context;
    const closed = once(child, 'close').catch(() => undefined);
    const over = child.exitCode !== null || child.signalCode !== null;
    if (over) await resultWithin(clock, DRAIN_MS, closed);
    if (failed) {
      child.stdout?.destroy();
      // Calls that wait for a response fail now, before the clean-up.
      this.onclose?.();
    }
    child.stdin?.end();
    if (!over && !failed) await resultWithin(clock, STDIN_END_MS, closed);
    const left = child.pid === undefined ? 'gone' : await endProcessGroup(child.pid, { graceMs, clock });
    if (left !== 'unconfirmed') this.#context.child.forget();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    if (!failed) this.onclose?.();
  }
}

function messageIn(line: string): JSONRPCMessage | undefined {
  try {
    return deserializeMessage(line);
  } catch {
    return undefined;
  }
}

function startFailure(error: unknown, { command, cwd }: StdioServerParameters): ProgramNotStartedError {
  const sentence =
    errorCode(error) === 'ENOENT'
      ? `could not start: there is no program ${command}${cwd === undefined ? '' : `, or no directory ${cwd}`}`
      : `could not start (${errorCode(error) ?? String(error)})`;
  return new ProgramNotStartedError(sentence, { cause: error });
}
