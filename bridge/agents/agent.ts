/** One agent of the settings. The bridge connects on first use, and again after the agent was lost. */
import pRetry from 'p-retry';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { A2aConnection, Endpoint } from './connection.ts';
import { requestFailure } from './failure.ts';
import { redact } from './redaction.ts';
import { isLoopback } from '../../shared/net/loopback.ts';
import { localWorkspace, mappedWorkspace } from './workspace-mapping.ts';

/** Finds the agent, and starts it if necessary. @throws ProductError */
type FindEndpoint = () => Promise<Endpoint>;

/** Waits 0.1 s, 0.3 s and 0.9 s before the retries. */
const LOOKED_FOR = { retries: 3, minTimeout: 100, factor: 3 };

export class Agent {
  readonly name: string;
  readonly #locate: FindEndpoint;
  /** Says where the token comes from. The error for a refused token shows it. */
  readonly #aboutToken: string;
  readonly #workspaces: Readonly<Record<string, string>>;
  /** The headers of its requests. They are redacted in the agent's error messages. */
  #headers: Endpoint['headers'] = {};
  #connection: Promise<A2aConnection> | undefined;
  /** True if the connected process has ended. The next call then finds or starts another process. */
  #isGone: () => boolean = () => false;
  #url: string | undefined;

  constructor(
    name: string,
    locate: FindEndpoint,
    aboutToken = 'Give the bridge its token.',
    workspaces: Readonly<Record<string, string>> = {},
  ) {
    this.name = name;
    this.#locate = locate;
    this.#aboutToken = aboutToken;
    this.#workspaces = workspaces;
  }

  /** The URL of the last connection. */
  get url(): string | undefined {
    return this.#url;
  }

  /** Connects once for all callers. @throws ProductError; the next call tries again */
  connect(): Promise<A2aConnection> {
    if (this.#isGone()) this.#connection = undefined;
    this.#connection ??= this.#reach();
    return this.#connection;
  }

  /** Connects again, to check that the agent answers now. @throws ProductError */
  reconnect(): Promise<A2aConnection> {
    this.#connection = undefined;
    return this.connect();
  }

  /**
   * Runs a request that may safely run twice. If a known agent is lost, the bridge retries a few times: the agent may
   * be restarting.
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
        ...LOOKED_FOR,
        shouldRetry: ({ error }) =>
          known && error instanceof ProductError && error.facts['trouble'] === 'network',
      },
    );
  }

  /** The agent's path for a directory of this machine; undefined if the settings have no mapping. */
  workspaceFor(path: string): string | undefined {
    return mappedWorkspace(path, this.#workspaces);
  }

  /**
   * This machine's path for a path of the agent; undefined if the agent may use another machine's files.
   * @param url of the agent
   */
  localPath(path: string, url: string): string | undefined {
    if (Object.keys(this.#workspaces).length > 0) return localWorkspace(path, this.#workspaces);
    return isLoopback(new URL(url).hostname) ? path : undefined;
  }

  /** Turns a thrown error into a ProductError, and drops the connection if the agent is gone. */
  failed(thrown: unknown): ProductError {
    const { error, arrival } = requestFailure(thrown, this.name);
    if (arrival === 'no' || error.reason === 'UNAUTHENTICATED') this.#connection = undefined;
    if (error.reason !== 'UNAUTHENTICATED' || error.facts['credentials'] === 'not-sent')
      return this.#withoutSecrets(error);
    // The agent's advice is for its own clients. The user of the bridge must change the bridge's settings.
    return new ProductError(
      'UNAUTHENTICATED',
      `Agent "${this.name}" does not accept the bridge's credentials. ${this.#aboutToken}`,
      { facts: error.facts, cause: thrown },
    );
  }

  #withoutSecrets(error: ProductError): ProductError {
    const message = redact(error.message, this.#headers);
    // The cause contains the same secret and would be logged.
    return message === error.message
      ? error
      : new ProductError(error.reason, message, { facts: error.facts });
  }

  async #reach(): Promise<A2aConnection> {
    this.#isGone = () => false;
    try {
      const endpoint = await this.#locate();
      this.#headers = endpoint.headers;
      // The A2A client loads only when an agent is needed: the first MCP answers do not wait for it.
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
