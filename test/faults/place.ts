/** The home directory and address of a round, and the programs that start and die there. */
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { RawClient, resultOf, type Line, type ToolResult } from '../integration/bridge/support/raw-client.ts';
import {
  homeDirectoryOf,
  launchServer,
  newServerHome,
  type Launched,
  type ServerHome,
} from '../support/server-program.ts';
import { A2aClient, Disconnected } from './a2a-client.ts';
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

/** A bridge process and its client. `ready` resolves when the bridge has started. */
interface Bridge {
  client: RawClient;
  ready: Promise<void>;
  exited: Promise<undefined>;
}

/** Requests complete results, because the flow keeps no earlier result. */
const WHOLE = { 'mcp-a2a-bridge/wholeResult': true };

export class Place {
  readonly home: ServerHome;
  readonly port: number;
  readonly #options: PlaceOptions;
  #server: Launched | undefined;
  readonly #killed = new WeakSet<Launched>();
  #ready: Promise<{ url: string; token: string }> | undefined;
  #bridge: Bridge | undefined;

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

  /** The state directory of the bridges. */
  get bridgeHome(): string {
    return join(this.home.stateDir, 'bridge');
  }

  get journalPath(): string {
    return join(this.home.stateDir, 'journal.db');
  }

  get server(): Launched | undefined {
    return this.#server;
  }

  get bridgePid(): number | undefined {
    return this.#bridge?.client.process.pid;
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

  /**
   * Sends SIGKILL to the bridge, also during its initialization.
   * @returns whether a bridge ran
   */
  async killBridge(): Promise<boolean> {
    const bridge = this.#bridge;
    this.#bridge = undefined;
    if (bridge === undefined) return false;
    const initialized = await Promise.race([bridge.ready.then(() => true), Promise.resolve(false)]);
    await bridge.client.kill();
    return !initialized;
  }

  /** Closes the bridge's stdin, like a client that exits. @returns the exit code; null after a kill */
  async closeBridge(): Promise<number | null> {
    const code = (await this.#bridge?.client.close()) ?? null;
    this.#bridge = undefined;
    return code;
  }

  /** Starts a bridge for the calls that follow. @throws Disconnected */
  async startBridge(how: { script?: string; env?: Readonly<Record<string, string>> } = {}): Promise<void> {
    const { script = this.#options.programs.bridge, env = {} } = how;
    const { token } = await this.serving();
    const { stateDir } = this.home;
    const client = RawClient.spawn(
      { script, directory: stateDir, remove: async () => undefined },
      { stateDir: this.bridgeHome, agentUrl: this.#options.agentUrl ?? this.url, token, env },
    );
    // A write to a killed process fails, and needs no report.
    client.process.stdin.on('error', () => undefined);
    const exited = once(client.process, 'exit').then(() => undefined);
    this.#bridge = { client, exited, ready: client.initialize() };
  }

  /** Calls a tool of the bridge. Starts a bridge if none runs. @throws Disconnected */
  async callTool(name: string, args: object): Promise<ToolResult> {
    if (this.#bridge === undefined) await this.startBridge();
    const bridge = this.#bridge;
    if (bridge === undefined) throw new Disconnected('the bridge was killed before it was asked');
    const { client, exited, ready } = bridge;
    const { process: child } = client;
    const call = async (): Promise<Line> => {
      await ready;
      return client.request('tools/call', { name, arguments: args, _meta: WHOLE });
    };
    const ended = child.exitCode !== null || child.signalCode !== null;
    const line = ended ? undefined : await Promise.race([call(), exited]);
    if (line === undefined) {
      if (this.#bridge === bridge) this.#bridge = undefined;
      must(
        child.signalCode === 'SIGKILL',
        `the bridge ended by itself (${child.exitCode}): ${client.stderr}`,
      );
      throw new Disconnected('the bridge was killed');
    }
    must(
      client.invalidLines.length === 0,
      () => `stdout contains text that is not MCP: ${client.invalidLines.join('\n')}`,
    );
    return resultOf(line);
  }

  async close(): Promise<void> {
    await this.killBridge();
    await this.endServer();
    await rm(homeDirectoryOf(this.home), { recursive: true, force: true });
  }
}

/**
 * Returns a port below the range for outgoing connections. So no other connection takes the address of a killed
 * server.
 */
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
