/** One of several servers on one PostgreSQL, with a proxy between the server and the database. */
import { rm } from 'node:fs/promises';
import { kill } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import {
  homeDirectoryOf,
  launchServer,
  newServerHome,
  type Launched,
  type ServerHome,
} from '../support/server-program.ts';
import { startProxy, type PostgresProxy } from '../support/postgres-proxy.ts';
import { must } from './findings.ts';

interface ReplicaOptions {
  program: string;
  databaseUrl: string;
  port: number;
  /** All servers have the same workspace. */
  workspace: string;
  token: string;
  /** The address of the load balancer. */
  publicUrl: string;
}

/** The token of this principal is the same at all servers. */
export const TEAM = 'team';

export class Replica {
  readonly port: number;
  readonly #options: ReplicaOptions;
  readonly #home: ServerHome;
  readonly #proxy: PostgresProxy;
  readonly #killed = new WeakSet<Launched>();
  #server: Launched;
  /** The end of the last fault. The next fault of this server waits for it. */
  #fault: Promise<void> = Promise.resolve();

  private constructor(options: ReplicaOptions, home: ServerHome, proxy: PostgresProxy) {
    this.#options = options;
    this.#home = home;
    this.#proxy = proxy;
    this.port = options.port;
    this.#server = this.#launch();
  }

  static async start(options: ReplicaOptions): Promise<Replica> {
    const home = await newServerHome();
    return new Replica(options, home, await startProxy(options.databaseUrl));
  }

  /** Resolves when no fault lasts and the server is ready. @throws Error if the server has ended by itself */
  async ready(): Promise<void> {
    await this.#fault;
    await this.#server.ready;
  }

  /** Sends SIGKILL, and starts the next process after `downMs`. */
  kill(downMs: number): Promise<void> {
    return this.#after(async () => {
      await this.#end();
      await pause(downMs);
      this.#server = this.#launch();
    });
  }

  /** Stops the process with SIGSTOP for `ms`. */
  freeze(ms: number): Promise<void> {
    return this.#after(async () => {
      kill(this.#server.pid, 'SIGSTOP');
      await pause(ms);
      kill(this.#server.pid, 'SIGCONT');
    });
  }

  /** Cuts all connections to the database once. A server whose database is away at its start ends, by design. */
  cutDatabase(): Promise<void> {
    return this.#after(async () => {
      await this.#server.ready;
      this.#proxy.cut();
    });
  }

  /** Connections to the database carry nothing for `ms`. Then they are cut. */
  stallDatabase(ms: number): Promise<void> {
    return this.#after(async () => {
      await this.#server.ready;
      this.#proxy.freeze();
      await pause(ms);
      this.#proxy.cut();
    });
  }

  /** Sends SIGTERM. */
  async stop(): Promise<void> {
    await this.ready();
    const code = await this.#server.stop();
    must(code === 0, `an orderly end gave the exit code ${code}: ${this.#server.log().slice(-2_000)}`);
  }

  async close(): Promise<void> {
    await this.#fault.catch(() => undefined);
    await this.#end();
    await this.#proxy.close();
    await rm(homeDirectoryOf(this.#home), { recursive: true, force: true });
  }

  #after(fault: () => Promise<void>): Promise<void> {
    this.#fault = this.#fault.then(fault);
    return this.#fault;
  }

  async #end(): Promise<void> {
    this.#killed.add(this.#server);
    await this.#server.kill();
  }

  #launch(): Launched {
    const { program, port, workspace, token, publicUrl } = this.#options;
    const server = launchServer({
      home: { stateDir: this.#home.stateDir, workspace },
      program,
      args: ['--port', String(port), '--public-url', publicUrl],
      env: { A2A_SERVER_DATABASE: this.#proxy.url, A2A_SERVER_TOKENS: `${TEAM}=${token}` },
    });
    // The caller of `ready` gets the error. This handler only prevents an unhandled rejection.
    server.ready.catch(() => undefined);
    return server;
  }
}
