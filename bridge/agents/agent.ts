/**
 * One configured agent and the connection to it. The bridge connects when it first needs the agent, and reconnects
 * after a failure.
 */
import { inspect } from 'node:util';
import pRetry from 'p-retry';
import { ProductError } from '../../shared/runtime/errors.ts';
import { setBounded } from '../../shared/runtime/set-bounded.ts';
import type { A2aConnection, ConnectOptions } from './connection.ts';
import { requestFailure } from './request-failure.ts';
import { redactSecrets } from './redaction.ts';
import { isLoopback } from '../../shared/net/loopback.ts';
import { toLocalWorkspace, toAgentWorkspace } from './workspace-mapping.ts';

/** Returns the URL and credentials of the agent, and starts the agent if necessary. @throws ProductError */
type FindEndpoint = () => Promise<ConnectOptions>;

/** The retries of a failed request. The delays are 0.1 s, 0.3 s and 0.9 s. */
const RETRIES = { retries: 3, minTimeout: 100, factor: 3 };

/** The maximum number of remembered header values. A token command may return another token for each connection. */
const MAX_SECRETS = 50;

/**
 * The limits of the search for secrets in the cause of an error. The search is synchronous, so it must be short. The
 * bridge reads at most this many characters of an error body. `inspect` shows the messages of errors in full.
 */
const SEARCH_LIMITS = { depth: 8, maxStringLength: 64 * 1024 };

export class Agent {
  readonly name: string;
  readonly #locate: FindEndpoint;
  /** Explains where the token comes from. This text is part of the error for a refused token. */
  readonly #aboutToken: string;
  readonly #workspaces: Readonly<Record<string, string>>;
  /**
   * The values of the headers that contain credentials. They are removed from the agent's errors. The last values of
   * earlier connections stay, because the agent may repeat a token that was renewed meanwhile.
   */
  readonly #secrets = new Map<string, true>();
  #connection: Promise<A2aConnection> | undefined;
  /**
   * Returns true if the process behind the connection has ended. The next request then finds or starts another process.
   */
  #isGone: () => boolean = () => false;
  #url: string | undefined;
  /** The sentences about this agent that the user should read, or has read. */
  readonly #notices = new Map<string, 'new' | 'read'>();

  constructor(
    name: string,
    locate: FindEndpoint,
    {
      aboutToken = 'Give the bridge its token.',
      workspaces = {},
    }: { aboutToken?: string | undefined; workspaces?: Readonly<Record<string, string>> | undefined } = {},
  ) {
    this.name = name;
    this.#locate = locate;
    this.#aboutToken = aboutToken;
    this.#workspaces = workspaces;
  }

  get url(): string | undefined {
    return this.#url;
  }

  /** Returns the sentences about this agent that the user has not read yet. Returns each of them once. */
  takeNotices(): readonly string[] {
    const unread = [...this.#notices].flatMap(([notice, state]) => (state === 'new' ? [notice] : []));
    for (const notice of unread) this.#notices.set(notice, 'read');
    return unread;
  }

  /**
   * Connects, or returns the existing connection. All callers share one connection. If connecting fails, the next call
   * connects again.
   * @throws ProductError
   */
  connect(): Promise<A2aConnection> {
    if (this.#isGone()) this.#connection = undefined;
    this.#connection ??= this.#openConnection();
    return this.#connection;
  }

  /** Connects again. A caller uses this to check that the agent answers now. @throws ProductError */
  reconnect(): Promise<A2aConnection> {
    this.#connection = undefined;
    return this.connect();
  }

  /**
   * Sends a request that is safe to repeat. If the network fails after an earlier success, the agent may be restarting.
   * So this method then repeats the request.
   * @throws ProductError
   */
  async ask<T>(request: (connection: A2aConnection) => Promise<T>): Promise<T> {
    const known = this.#connection !== undefined;
    return pRetry(
      async () => {
        try {
          return await request(await this.connect());
        } catch (error) {
          throw this.failed(error);
        }
      },
      {
        ...RETRIES,
        shouldRetry: ({ error }) =>
          known && error instanceof ProductError && error.facts['trouble'] === 'network',
      },
    );
  }

  /** Returns the agent's path for a local directory. Returns undefined if the settings do not map this directory. */
  workspaceFor(path: string): string | undefined {
    return toAgentWorkspace(path, this.#workspaces);
  }

  /**
   * Returns the local path of an agent's directory, if the settings map this directory. Otherwise returns the agent's
   * path.
   */
  workspaceForUser(path: string): string {
    return toLocalWorkspace(path, this.#workspaces) ?? path;
  }

  /**
   * Returns the local path for a path of the agent. Returns undefined if the settings map only other directories.
   * Without a mapping, returns undefined if the agent may run on another machine.
   */
  localPath(path: string, url: string): string | undefined {
    if (Object.keys(this.#workspaces).length > 0) return toLocalWorkspace(path, this.#workspaces);
    return isLoopback(new URL(url).hostname) ? path : undefined;
  }

  /**
   * Converts a thrown error to a ProductError. If the agent is unreachable, refuses the credentials, or does not speak
   * A2A at this address, drops the connection. The next request then connects again. It also reads the card again,
   * because the card may have changed.
   */
  failed(thrown: unknown): ProductError {
    const { error, arrival } = requestFailure(thrown, this.name);
    const isAddressWrong = error.facts['trouble'] === 'address';
    if (arrival === 'no' || error.reason === 'UNAUTHENTICATED' || isAddressWrong)
      this.#connection = undefined;
    const isTokenRefused = error.reason === 'UNAUTHENTICATED' && error.facts['credentials'] !== 'not-sent';
    if (!isTokenRefused) return this.#withoutSecrets(error);
    // The agent's error text tells its direct clients what to do. The user of the bridge must change the bridge's
    // settings instead.
    const message = `Agent "${this.name}" does not accept the bridge's credentials. ${this.#aboutToken}`;
    const { facts } = error;
    return this.#withoutSecrets(new ProductError('UNAUTHENTICATED', message, { facts, cause: error }));
  }

  #withoutSecrets(error: ProductError): ProductError {
    if (this.#secrets.size === 0) return error;
    const redact = (text: string): string => redactSecrets(text, this.#secrets.keys());
    const { reason, message, facts, cause } = error;
    // The cause is only logged. `inspect` also shows the causes and fields of the cause.
    const texts = [message, ...Object.values(facts), inspect(cause, SEARCH_LIMITS)];
    if (texts.every((text) => redact(text) === text)) return error;
    const safeFacts = Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, redact(fact)]));
    return new ProductError(reason, redact(message), { facts: safeFacts });
  }

  async #openConnection(): Promise<A2aConnection> {
    this.#isGone = () => false;
    try {
      const endpoint = await this.#locate();
      for (const value of Object.values(endpoint.headers))
        setBounded(this.#secrets, value, true, MAX_SECRETS);
      const { notice } = endpoint;
      if (notice !== undefined && !this.#notices.has(notice)) this.#notices.set(notice, 'new');
      // The A2A client takes long to load. It is loaded here, so that the first MCP responses do not wait for it.
      const { connectToAgent } = await import('./connection.ts');
      const connection = await connectToAgent(endpoint);
      this.#url = connection.url;
      this.#isGone = endpoint.isGone ?? (() => false);
      return connection;
    } catch (error) {
      this.#connection = undefined;
      throw this.failed(error);
    }
  }
}
