/**
 * Starts the process of an ACP agent and speaks ACP over its stdin and stdout. The server offers no file methods and no
 * terminal methods. The agent uses its own tools, and asks for permission first.
 */
import {
  client,
  methods,
  MessageTooLargeError,
  ndJsonStream,
  RequestError,
  type ClientConnection,
  type InitializeResponse,
  type NewSessionRequest,
  type PermissionOption,
  type RequestPermissionOutcome,
  type RequestPermissionResponse,
  type SessionUpdate,
  type StopReason,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { onAbort, unlessAborted } from '../../../shared/runtime/abort.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { resultWithin, startTimeout } from '../../runtime/timeout.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { acpCommandText, type AcpAgentCommand } from './agent-program.ts';
import { startAcpProcess, type AcpProcess, type AcpProcessOptions } from './agent-process.ts';

/**
 * The maximum size of one message, in bytes. A message about a rewritten file contains the old and the new content of
 * the file.
 */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
/** The time that the server waits for the exit code after an agent has closed its output. */
const EXIT_MS = 1_000;
const SIGTERM_TO_SIGKILL_MS = 1_000;
/** The JSON-RPC error code of an agent that requires a sign-in (ACP v1, authentication). */
const AUTH_REQUIRED = -32_000;

/** The SDK does not check the results of requests, so these schemas check them. */
const sessionAnswer = z.object({ sessionId: z.string().min(1) });
const promptAnswer = z.object({
  stopReason: z.enum(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']),
});

export interface PendingAcpRequest {
  toolCall: ToolCallUpdate;
  options: readonly PermissionOption[];
  answer: (outcome: RequestPermissionOutcome) => void;
}

export interface AcpListener {
  onUpdate(update: SessionUpdate): void;
  /** Handles a permission request. @returns a function to call when the agent withdraws the request */
  onPermissionRequest(request: PendingAcpRequest): () => void;
  /** Called after the end of the agent. The message gives the reason. */
  onEnd(message: string): void;
}

/** Thrown if a person must sign in to the agent first. */
export class SignInNeededError extends Error {
  override readonly name = 'SignInNeededError';
}

interface AgentConnectionOptions extends AcpProcessOptions {
  startMs: number;
}

export class AcpConnection {
  readonly #command: AcpAgentCommand;
  readonly #options: AgentConnectionOptions;
  readonly #process: AcpProcess;
  readonly #client: ClientConnection;
  #sessionId: string | undefined;
  #peer: AcpListener | undefined;
  #lost: string | undefined;
  #reason: string | undefined;
  #ending: Promise<void> | undefined;
  readonly #watching: Promise<void>;

  /** Starts the agent. @throws ProductError AGENT_ERROR if the agent cannot start. */
  static async open(command: AcpAgentCommand, options: AgentConnectionOptions): Promise<AcpConnection> {
    return new AcpConnection(command, options, await startAcpProcess(command, options));
  }

  private constructor(command: AcpAgentCommand, options: AgentConnectionOptions, started: AcpProcess) {
    this.#command = command;
    this.#options = options;
    this.#process = started;
    const stream = ndJsonStream(Writable.toWeb(started.stdin), Readable.toWeb(started.stdout), {
      maxMessageBytes: MAX_MESSAGE_BYTES,
    });
    this.#client = client({ name: 'mcp-a2a-bridge' })
      // The handler of notifications comes first, so that a permission request never overtakes an earlier update.
      .onNotification(methods.client.session.update, ({ params }) => {
        if (params.sessionId === this.#sessionId) this.#peer?.onUpdate(params.update);
      })
      .onRequest(methods.client.session.requestPermission, ({ params, signal }) => this.#ask(params, signal))
      .connect(stream);
    this.#watching = this.#watch();
  }

  get closed(): boolean {
    return this.#client.signal.aborted;
  }

  /** Sends all further messages of the agent to the peer. If the agent has already ended, calls `onEnd`. */
  listen(peer: AcpListener): void {
    this.#peer = peer;
    if (this.#lost !== undefined) peer.onEnd(this.#lost);
  }

  /** @throws ProductError AGENT_ERROR, SignInNeededError */
  initialize(protocolVersion: number, version: string): Promise<InitializeResponse> {
    return this.#setUp('initialize', () =>
      this.#client.agent.request(methods.agent.initialize, {
        protocolVersion,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        clientInfo: { name: 'mcp-a2a-bridge', version },
      }),
    );
  }

  /** @returns the session id. @throws ProductError AGENT_ERROR, SignInNeededError */
  async newSession(cwd: string): Promise<string> {
    const request: NewSessionRequest = { cwd, mcpServers: [] };
    const { sessionId } = await this.#setUp('session/new', async () =>
      sessionAnswer.parse(await this.#client.agent.request(methods.agent.session.new, request)),
    );
    this.#sessionId = sessionId;
    return sessionId;
  }

  /**
   * Resumes or loads an earlier session. Updates that the agent replays are ignored, because the journal contains them.
   * @throws ProductError AGENT_ERROR, SignInNeededError
   */
  async takeUp(how: 'resume' | 'load', sessionId: string, cwd: string): Promise<void> {
    const request = { sessionId, cwd, mcpServers: [] };
    const method = methods.agent.session[how];
    await this.#setUp<unknown>(method, () => this.#client.agent.request(method, request));
    this.#sessionId = sessionId;
  }

  /** @throws Error if the agent answers with an error, or without a stop reason of ACP v1 */
  async prompt(text: string): Promise<StopReason> {
    const answer: unknown = await this.#client.agent.request(methods.agent.session.prompt, {
      sessionId: this.#sessionId ?? '',
      prompt: [{ type: 'text', text }],
    });
    const known = promptAnswer.safeParse(answer);
    if (known.success) return known.data.stopReason;
    throw new Error(`its stop reason is unknown: ${oneLineExcerpt(JSON.stringify(answer) ?? 'none', 100)}`);
  }

  cancelPrompt(): void {
    this.#client.agent
      .notify(methods.agent.session.cancel, { sessionId: this.#sessionId ?? '' })
      // An error of this notification is ignored. The notification fails only if the agent has ended, and `onEnd`
      // reports that end to the peer.
      .catch(() => undefined);
  }

  /** Ends an agent that violated the protocol. @param violation what the agent did, for the message to the peer */
  endAfterViolation(violation: string): void {
    this.#reason ??= `${violation}, and the server ended it`;
    void this.end();
  }

  refusal(error: unknown): string {
    return `The agent ${acpCommandText(this.#command)} answered with an error: ${oneLineExcerpt(errorMessageOf(error), 500)}.${this.#process.lastOutput()}`;
  }

  /** Ends the agent. Resolves when the process group has ended and the peer has been notified. */
  end(): Promise<void> {
    // If the process cannot be ended, `#watching` rejects too. So the error is ignored here.
    this.#endProcess().catch(() => undefined);
    return this.#watching;
  }

  #endProcess(): Promise<void> {
    this.#ending ??= (async () => {
      this.#client.close();
      await this.#process.end(SIGTERM_TO_SIGKILL_MS);
    })();
    return this.#ending;
  }

  #ask(
    {
      sessionId,
      toolCall,
      options,
    }: { sessionId: string; toolCall: ToolCallUpdate; options: PermissionOption[] },
    signal: AbortSignal,
  ): Promise<RequestPermissionResponse> {
    if (sessionId !== this.#sessionId || this.#peer === undefined)
      return Promise.resolve({ outcome: { outcome: 'cancelled' } });
    const peer = this.#peer;
    return new Promise((resolve) => {
      const answer = (outcome: RequestPermissionOutcome): void => resolve({ outcome });
      const takeBack = peer.onPermissionRequest({ toolCall, options, answer });
      onAbort(signal, () => {
        takeBack();
        answer({ outcome: 'cancelled' });
      });
    });
  }

  async #watch(): Promise<void> {
    await Promise.race([this.#process.exited, this.#client.closed]);
    // The result is undefined if the process has closed its output but still runs.
    const how = await resultWithin(this.#options.clock, EXIT_MS, this.#process.exited);
    const { reason } = this.#client.signal;
    const did =
      this.#reason ??
      (reason instanceof MessageTooLargeError
        ? `sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB, and the server ended it`
        : how === undefined
          ? `closed its output (${errorMessageOf(reason)}), and the server ended it`
          : `ended ${how}`);
    await this.#endProcess();
    this.#lost = `The agent ${acpCommandText(this.#command)} ${did}.${this.#process.lastOutput()}`;
    this.#peer?.onEnd(this.#lost);
  }

  async #setUp<T>(method: string, step: () => Promise<T>): Promise<T> {
    const { clock, startMs } = this.#options;
    const limit = startTimeout(clock, startMs);
    try {
      return await unlessAborted(step(), limit.signal);
    } catch (error) {
      if (limit.expired())
        throw this.#setUpFailure(
          `did not answer ${method} within ${startMs / 1000} s.${this.#process.lastOutput()}`,
        );
      if (error instanceof RequestError && error.code === AUTH_REQUIRED)
        throw new SignInNeededError(errorMessageOf(error), { cause: error });
      if (this.closed) {
        await this.#watching;
        throw new ProductError('AGENT_ERROR', this.#lost ?? '', { cause: error });
      }
      throw this.#setUpFailure(
        `answered ${method} with an error: ${oneLineExcerpt(errorMessageOf(error), 500)}.${this.#process.lastOutput()}`,
        error,
      );
    } finally {
      limit.clear();
    }
  }

  #setUpFailure(what: string, cause?: unknown): ProductError {
    return new ProductError('AGENT_ERROR', `The agent ${acpCommandText(this.#command)} ${what}`, { cause });
  }
}
