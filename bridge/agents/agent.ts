/** One agent of the settings: found and connected to on first need, found again when it has gone. */
import pRetry from 'p-retry';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Connection, Endpoint } from './connection.ts';
import { failureOf } from './failure.ts';
import { redacted } from './redaction.ts';
import { isLoopback } from '../../shared/net/loopback.ts';
import { localWorkspace, mappedWorkspace } from './workspace-mapping.ts';

/** The name of the user's own server where the settings configure no agent. */
export const LOCAL_AGENT = 'local';

/** Where an agent is; may first have to start it. @throws ProductError */
export type Locate = () => Promise<Endpoint>;

/** 0.1 s, 0.3 s, 0.9 s. */
const LOOKED_FOR = { retries: 3, minTimeout: 100, factor: 3 };

export class Agent {
  readonly name: string;
  readonly #locate: Locate;
  /** Where its token comes from, and so what to do when it wants another. */
  readonly #aboutToken: string;
  readonly #workspaces: Readonly<Record<string, string>>;
  /** What goes with its requests. An agent that repeats it in an error is not quoted. */
  #headers: Endpoint['headers'] = {};
  #connection: Promise<Connection> | undefined;
  #url: string | undefined;

  constructor(
    name: string,
    locate: Locate,
    aboutToken = 'Give the bridge its token.',
    workspaces: Readonly<Record<string, string>> = {},
  ) {
    this.name = name;
    this.#locate = locate;
    this.#aboutToken = aboutToken;
    this.#workspaces = workspaces;
  }

  /** Where it was when it was last connected to. */
  get url(): string | undefined {
    return this.#url;
  }

  /** The way to the agent, shared by all who ask. @throws ProductError; the next call tries again. */
  connect(): Promise<Connection> {
    this.#connection ??= this.#reach();
    return this.#connection;
  }

  /** The way to the agent, found anew: whether it answers now. @throws ProductError */
  reconnect(): Promise<Connection> {
    this.#connection = undefined;
    return this.connect();
  }

  /**
   * Runs one request that does no harm when it is made twice. An agent that was there and has gone is looked for a few
   * times: it may just be starting again. @throws ProductError
   */
  async ask<T>(request: (connection: Connection) => Promise<T>): Promise<T> {
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

  /** What the agent calls a directory of this machine; undefined where the settings do not say. */
  workspaceFor(path: string): string | undefined {
    return mappedWorkspace(path, this.#workspaces);
  }

  /**
   * What this machine calls a path of the agent's; undefined where the agent may work on another machine's files.
   * @param url of the agent
   */
  localPath(path: string, url: string): string | undefined {
    if (Object.keys(this.#workspaces).length > 0) return localWorkspace(path, this.#workspaces);
    return isLoopback(new URL(url).hostname) ? path : undefined;
  }

  /** Names what was thrown, and forgets where the agent was when it is not there any more. */
  failed(thrown: unknown): ProductError {
    const { error, arrival } = failureOf(thrown, this.name);
    if (arrival === 'no' || error.reason === 'UNAUTHENTICATED') this.#connection = undefined;
    if (error.reason !== 'UNAUTHENTICATED') return this.#withoutSecrets(error);
    // What the agent says of credentials is meant for its own clients; whoever uses the bridge has the bridge's settings.
    return new ProductError(
      'UNAUTHENTICATED',
      `Agent "${this.name}" does not accept the bridge's credentials. ${this.#aboutToken}`,
      { facts: error.facts, cause: thrown },
    );
  }

  #withoutSecrets(error: ProductError): ProductError {
    const message = redacted(error.message, this.#headers);
    // Its cause says the same, and is logged.
    return message === error.message
      ? error
      : new ProductError(error.reason, message, { facts: error.facts });
  }

  async #reach(): Promise<Connection> {
    try {
      const endpoint = await this.#locate();
      this.#headers = endpoint.headers;
      // The A2A client is not loaded before an agent is needed: the first MCP answers do not wait for it.
      const { connect } = await import('./connection.ts');
      const connection = await connect(endpoint);
      this.#url = connection.url;
      return connection;
    } catch (error) {
      this.#connection = undefined;
      throw this.failed(error);
    }
  }
}
