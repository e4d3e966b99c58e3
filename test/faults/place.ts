/** The home directory and address of a round, and the programs that start and die there. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  homeDirectoryOf,
  launchServer,
  newServerHome,
  type Launched,
  type ServerHome,
} from '../support/server-program.ts';
import { freePort } from '../support/free-port.ts';
import { A2aClient, Disconnected } from './a2a-client.ts';
import { BridgeProcess } from './bridge-process.ts';
import { must } from './findings.ts';
import type { Programs } from './programs.ts';
import type { Random } from './random.ts';

interface PlaceOptions {
  programs: Programs;
  random: Random;
  /** The URL of the agent that the bridge uses. By default the URL of the server. */
  agentUrl?: string;
  serverArgs?: readonly string[];
}

export class Place {
  readonly home: ServerHome;
  readonly port: number;
  readonly bridge: BridgeProcess;
  readonly #options: PlaceOptions;
  #server: Launched | undefined;
  readonly #killed = new WeakSet<Launched>();
  #ready: Promise<{ url: string; token: string }> | undefined;

  private constructor(home: ServerHome, port: number, options: PlaceOptions) {
    this.home = home;
    this.port = port;
    this.#options = options;
    this.bridge = this.newBridge(join(home.stateDir, 'bridge'));
  }

  static async open(options: PlaceOptions): Promise<Place> {
    return new Place(
      await newServerHome(),
      await freePort((low, high) => options.random.between(low, high)),
      options,
    );
  }

  get workspace(): string {
    return this.home.workspace;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Returns a bridge with this state directory. The caller ends it. */
  newBridge(stateDir: string): BridgeProcess {
    const { programs, agentUrl = this.url } = this.#options;
    return new BridgeProcess({
      program: programs.bridge,
      directory: this.home.stateDir,
      stateDir,
      agentUrl,
      token: async () => (await this.serving()).token,
    });
  }

  get journalPath(): string {
    return join(this.home.stateDir, 'journal.db');
  }

  get server(): Launched | undefined {
    return this.#server;
  }

  /**
   * Returns a client of the current server, after the server is ready. Starts a server if none runs.
   * @throws Disconnected
   */
  async client(): Promise<A2aClient> {
    return new A2aClient(await this.serving());
  }

  /**
   * Returns the server's address, after the server is ready. Starts a server if none runs.
   * @throws Disconnected
   */
  serving(): Promise<{ url: string; token: string }> {
    if (this.#ready === undefined) this.start();
    return this.#ready ?? Promise.reject(new Disconnected('the server has ended'));
  }

  /** Starts a server without waiting for it. */
  start(how: { program?: string; env?: Readonly<Record<string, string>> } = {}): Launched {
    const { program = this.#options.programs.server, env = {} } = how;
    const args = ['--port', String(this.port), ...(this.#options.serverArgs ?? [])];
    const server = launchServer({ home: this.home, program, args, env });
    this.#server = server;
    this.#ready = server.ready.catch((error: unknown) => {
      throw this.#killed.has(server) ? new Disconnected('the server was killed while it started') : error;
    });
    // A kill may reject this promise while no caller waits for it. This handler prevents an unhandled rejection.
    this.#ready.catch(() => undefined);
    return server;
  }

  /** Sends SIGKILL to the server, and starts a new process at once. */
  async killServer(): Promise<void> {
    await this.endServer();
    this.start();
  }

  /** Sends SIGKILL to the server, and starts no new process. */
  async endServer(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#killed.add(server);
    await server.kill();
    this.#server = undefined;
    this.#ready = undefined;
  }

  /** Sends SIGTERM to the server. */
  async stopServer(): Promise<void> {
    const code = await this.#server?.stop();
    this.#server = undefined;
    this.#ready = undefined;
    must(code === undefined || code === 0, `an orderly end gave the exit code ${code}`);
  }

  async close(): Promise<void> {
    await this.bridge.kill();
    await this.endServer();
    await rm(homeDirectoryOf(this.home), { recursive: true, force: true });
  }
}
