/** Where a round takes place: one home, one address, and the processes that live and die there. */
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { RawClient, resultOf, type ToolResult } from '../integration/bridge/support/raw-client.ts';
import {
  directoryOf,
  launchServer,
  newServerHome,
  type Launched,
  type ServerHome,
} from '../support/server-program.ts';
import { A2aClient, Disconnected } from './a2a-client.ts';
import { must } from './findings.ts';
import type { Programs } from './programs.ts';
import type { Random } from './random.ts';

export interface PlaceOptions {
  programs: Programs;
  random: Random;
  /** What the bridge takes for the agent; the server itself if left out. */
  agentUrl?: string;
  serverArgs?: readonly string[];
}

interface Bridge {
  client: RawClient;
  exited: Promise<undefined>;
}

export class Place {
  readonly home: ServerHome;
  readonly port: number;
  readonly #options: PlaceOptions;
  #server: Launched | undefined;
  readonly #killed = new WeakSet<Launched>();
  #ready: Promise<{ url: string; token: string }> | undefined;
  #bridge: Promise<Bridge> | undefined;

  private constructor(home: ServerHome, port: number, options: PlaceOptions) {
    this.home = home;
    this.port = port;
    this.#options = options;
  }

  static async open(options: PlaceOptions): Promise<Place> {
    return new Place(await newServerHome(), await freePort(options.random), options);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get journalPath(): string {
    return join(this.home.stateDir, 'journal.db');
  }

  /** A client of the server as it is now, once that is ready; starts one if none runs. @throws Disconnected */
  async client(): Promise<A2aClient> {
    return new A2aClient(await this.serving());
  }

  /** Where the server is, once it is ready; starts one if none runs. @throws Disconnected */
  serving(): Promise<{ url: string; token: string }> {
    if (this.#ready === undefined) this.start();
    return this.#ready ?? Promise.reject(new Disconnected('the server has ended'));
  }

  /** Starts a server, and does not wait for it. */
  start(how: { program?: string; env?: Readonly<Record<string, string>> } = {}): Launched {
    const { program = this.#options.programs.server, env = {} } = how;
    const args = ['--port', String(this.port), ...(this.#options.serverArgs ?? [])];
    const server = launchServer({ home: this.home, program, args, env });
    this.#server = server;
    this.#ready = server.ready.catch((error: unknown) => {
      throw this.#killed.has(server) ? new Disconnected('the server was killed while it started') : error;
    });
    // Nobody may be waiting for it when it is killed.
    this.#ready.catch(() => undefined);
    return server;
  }

  /** SIGKILL, and a new process at once. */
  async killServer(): Promise<void> {
    await this.endServer();
    this.start();
  }

  /** SIGKILL. There is none after that until somebody starts one. */
  async endServer(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#killed.add(server);
    await server.kill();
    this.#server = undefined;
    this.#ready = undefined;
  }

  /** SIGTERM. */
  async stopServer(): Promise<void> {
    const code = await this.#server?.stop();
    this.#server = undefined;
    this.#ready = undefined;
    must(code === undefined || code === 0, `an orderly end had the exit code ${code}`);
  }

  async killBridge(): Promise<void> {
    const bridge = await this.#bridge?.catch(() => undefined);
    this.#bridge = undefined;
    await bridge?.client.kill();
  }

  /** Calls a tool of the bridge; starts one if none runs. @throws Disconnected */
  async callTool(name: string, args: object): Promise<ToolResult> {
    const starting = (this.#bridge ??= this.#startBridge());
    const { client, exited } = await starting.catch((error: unknown) => {
      if (this.#bridge === starting) this.#bridge = undefined;
      throw error;
    });
    const { process: child } = client;
    if (child.exitCode !== null || child.signalCode !== null) throw new Disconnected('the bridge has ended');
    const line = await Promise.race([client.request('tools/call', { name, arguments: args }), exited]);
    if (line === undefined) {
      must(
        child.signalCode === 'SIGKILL',
        `the bridge ended by itself (${child.exitCode}): ${client.stderr}`,
      );
      throw new Disconnected('the bridge was killed');
    }
    must(client.strays.length === 0, () => `stdout carried what is no MCP: ${client.strays.join('\n')}`);
    return resultOf(line);
  }

  async #startBridge(): Promise<Bridge> {
    const { token } = await this.serving();
    const { stateDir } = this.home;
    const client = await RawClient.start(
      { script: this.#options.programs.bridge, directory: stateDir, remove: async () => undefined },
      { stateDir: join(stateDir, 'bridge'), agentUrl: this.#options.agentUrl ?? this.url, token },
    );
    return { client, exited: once(client.process, 'exit').then(() => undefined) };
  }

  async close(): Promise<void> {
    await this.killBridge();
    await this.endServer();
    await rm(directoryOf(this.home), { recursive: true, force: true });
  }
}

/** Below the ports that systems give to outgoing connections: a killed server's address has to be free for the next. */
async function freePort(random: Random): Promise<number> {
  for (;;) {
    const port = random.between(15_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const free = await Promise.race([
      once(server, 'listening').then(() => true),
      once(server, 'error').then(() => false),
    ]).catch(() => false);
    if (!free) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
