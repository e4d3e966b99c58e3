/**
 * The line to an ACP agent: its process, and the protocol spoken with it over stdin and stdout. It offers the agent nothing
 * of its own, no files and no terminals: agents have their own, and ask before they use them.
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
import { onAbort } from '../../../shared/runtime/abort.ts';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { oneLine } from '../../../shared/text/one-line.ts';
import { spelled, type AgentCommand } from './agent-command.ts';
import { startAgentProcess, type AgentProcess, type AgentProcessOptions } from './agent-process.ts';

/** One message, in bytes: a file that is rewritten comes twice in one. */
const MAX_MESSAGE = 32 * 1024 * 1024;
/** How long the exit of an agent that has closed its output is waited for, to tell how it ended. */
const EXIT_MS = 1_000;
/** From SIGTERM to SIGKILL for an agent that has been told to stop before, or was never heard. */
const KILL_MS = 1_000;
/** JSON-RPC: the agent wants a sign-in first (ACP v1, authentication). */
const AUTH_REQUIRED = -32_000;

export interface PermissionRequest {
  toolCall: ToolCallUpdate;
  options: readonly PermissionOption[];
  answer: (outcome: RequestPermissionOutcome) => void;
}

/** Who listens to an agent. */
export interface AgentPeer {
  told(update: SessionUpdate): void;
  /** @returns what is to be done when the agent takes the request back. */
  asked(request: PermissionRequest): () => void;
  /** The agent has ended, as the sentence says. */
  lost(message: string): void;
}

/** A person has to sign in before the agent does anything. */
export class SignInNeeded extends Error {
  override readonly name = 'SignInNeeded';
}

export interface ConnectionOptions extends AgentProcessOptions {
  /** How long the agent may take to answer while it is set up, in milliseconds. */
  startMs: number;
}

export class AgentConnection {
  readonly #command: AgentCommand;
  readonly #options: ConnectionOptions;
  readonly #process: AgentProcess;
  readonly #client: ClientConnection;
  #sessionId: string | undefined;
  #peer: AgentPeer | undefined;
  #lost: string | undefined;
  #reason: string | undefined;
  #ending: Promise<void> | undefined;

  /** @throws ProductError AGENT_ERROR when it cannot be started. */
  static async open(command: AgentCommand, options: ConnectionOptions): Promise<AgentConnection> {
    return new AgentConnection(command, options, await startAgentProcess(command, options));
  }

  private constructor(command: AgentCommand, options: ConnectionOptions, started: AgentProcess) {
    this.#command = command;
    this.#options = options;
    this.#process = started;
    const stream = ndJsonStream(Writable.toWeb(started.stdin), Readable.toWeb(started.stdout), {
      maxMessageBytes: MAX_MESSAGE,
    });
    this.#client = client({ name: 'mcp-a2a-bridge' })
      // First, so that it is told of at once: what comes before a request must not be overtaken by it.
      .onNotification(methods.client.session.update, ({ params }) => {
        if (params.sessionId === this.#sessionId) this.#peer?.told(params.update);
      })
      .onRequest(methods.client.session.requestPermission, ({ params, signal }) => this.#ask(params, signal))
      .connect(stream);
    void this.#watch();
  }

  get closed(): boolean {
    return this.#client.signal.aborted;
  }

  /** Tells the peer everything from here on, also that the agent has ended already. */
  listen(peer: AgentPeer): void {
    this.#peer = peer;
    if (this.#lost !== undefined) peer.lost(this.#lost);
  }

  /** @throws ProductError AGENT_ERROR, SignInNeeded */
  initialize(protocolVersion: number, version: string): Promise<InitializeResponse> {
    return this.#setUp('initialize', () =>
      this.#client.agent.request(methods.agent.initialize, {
        protocolVersion,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        clientInfo: { name: 'mcp-a2a-bridge', version },
      }),
    );
  }

  /** @returns its id. @throws ProductError AGENT_ERROR, SignInNeeded */
  async newSession(cwd: string): Promise<string> {
    const request: NewSessionRequest = { cwd, mcpServers: [] };
    const { sessionId } = await this.#setUp('session/new', () =>
      this.#client.agent.request(methods.agent.session.new, request),
    );
    this.#sessionId = sessionId;
    return sessionId;
  }

  /**
   * Takes up a session of before. What is replayed of it is not told: the journal has it.
   * @throws ProductError AGENT_ERROR, SignInNeeded
   */
  async takeUp(how: 'resume' | 'load', sessionId: string, cwd: string): Promise<void> {
    const request = { sessionId, cwd, mcpServers: [] };
    await this.#setUp(`session/${how}`, async () => {
      if (how === 'resume') await this.#client.agent.request(methods.agent.session.resume, request);
      else await this.#client.agent.request(methods.agent.session.load, request);
    });
    this.#sessionId = sessionId;
  }

  /** Resolves with why the agent has stopped. */
  async prompt(text: string): Promise<StopReason> {
    const { stopReason } = await this.#client.agent.request(methods.agent.session.prompt, {
      sessionId: this.#sessionId ?? '',
      prompt: [{ type: 'text', text }],
    });
    return stopReason;
  }

  cancelPrompt(): void {
    this.#client.agent
      .notify(methods.agent.session.cancel, { sessionId: this.#sessionId ?? '' })
      // It cannot be told any more: then it has ended, and the peer hears of that.
      .catch(() => undefined);
  }

  /** Ends an agent that `did` what no agent may do; the peer hears of it. */
  giveUp(did: string): void {
    this.#reason ??= `${did}, and was ended`;
    void this.end();
  }

  /** What an error of the agent's means, as a sentence. */
  refusal(error: unknown): string {
    return `The agent ${spelled(this.#command)} answered with an error: ${oneLine(messageOf(error), 500)}.${this.#process.lastWords()}`;
  }

  end(): Promise<void> {
    this.#ending ??= (async () => {
      this.#client.close();
      await this.#process.end(KILL_MS);
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
      const takeBack = peer.asked({ toolCall, options, answer });
      onAbort(signal, () => {
        takeBack();
        answer({ outcome: 'cancelled' });
      });
    });
  }

  /** Sees the agent to its end. */
  async #watch(): Promise<void> {
    await Promise.race([this.#process.exited, this.#client.closed]);
    const how = await this.#exit();
    const { reason } = this.#client.signal;
    const did =
      this.#reason ??
      (reason instanceof MessageTooLargeError
        ? `sent a message of more than ${MAX_MESSAGE / 1024 / 1024} MB, and was ended`
        : how === undefined
          ? `closed its output (${messageOf(reason)}), and was ended`
          : `ended ${how}`);
    await this.end();
    this.#lost = `The agent ${spelled(this.#command)} ${did}.${this.#process.lastWords()}`;
    this.#peer?.lost(this.#lost);
  }

  /** How it ended; undefined for one that closes its output and stays. */
  async #exit(): Promise<string | undefined> {
    let callOff: (() => void) | undefined;
    const late = new Promise<undefined>((resolve) => {
      callOff = this.#options.clock.after(EXIT_MS, () => resolve(undefined));
    });
    try {
      return await Promise.race([this.#process.exited, late]);
    } finally {
      callOff?.();
    }
  }

  /** A step of the set-up, for as long as it may take. */
  async #setUp<T>(method: string, step: () => Promise<T>): Promise<T> {
    const { clock, startMs } = this.#options;
    let callOff: (() => void) | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      callOff = clock.after(startMs, () =>
        reject(
          this.#setUpFailure(
            `did not answer ${method} within ${startMs / 1000} s.${this.#process.lastWords()}`,
          ),
        ),
      );
    });
    try {
      return await Promise.race([step(), late]);
    } catch (error) {
      if (error instanceof ProductError) throw error;
      if (error instanceof RequestError && error.code === AUTH_REQUIRED)
        throw new SignInNeeded(messageOf(error), { cause: error });
      if (this.closed) throw new ProductError('AGENT_ERROR', await this.#farewell(), { cause: error });
      throw this.#setUpFailure(
        `answered ${method} with an error: ${oneLine(messageOf(error), 500)}.${this.#process.lastWords()}`,
        error,
      );
    } finally {
      callOff?.();
    }
  }

  #setUpFailure(what: string, cause?: unknown): ProductError {
    return new ProductError('AGENT_ERROR', `The agent ${spelled(this.#command)} ${what}`, { cause });
  }

  /** The sentence of its end. */
  #farewell(): Promise<string> {
    return new Promise((resolve) => {
      const peer = this.#peer;
      this.listen({ told: () => undefined, asked: () => () => undefined, lost: resolve });
      if (peer) this.#peer = peer;
    });
  }
}
