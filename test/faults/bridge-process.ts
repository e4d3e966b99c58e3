/** The bridge of a round. It starts at its first call, and may die at any time. */
import { once } from 'node:events';
import { RawClient, resultOf, type Line, type ToolResult } from '../integration/bridge/support/raw-client.ts';
import { Disconnected } from './a2a-client.ts';
import { must } from './findings.ts';

interface BridgeProcessOptions {
  /** The bridge's main file. */
  program: string;
  /** The working directory of the bridge. */
  directory: string;
  /** The state directory of the bridge. */
  stateDir: string;
  agentUrl: string;
  /** Returns the agent's token. @throws Disconnected if the agent does not run */
  token: () => Promise<string>;
}

/** A bridge process and its client. `ready` resolves when the bridge has started. */
interface Running {
  client: RawClient;
  ready: Promise<void>;
  exited: Promise<undefined>;
}

/** Requests complete results, because the flow keeps no earlier result. */
const WHOLE = { 'mcp-a2a-bridge/wholeResult': true };

export class BridgeProcess {
  readonly #options: BridgeProcessOptions;
  #running: Running | undefined;

  constructor(options: BridgeProcessOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#running?.client.process.pid;
  }

  /** Starts a bridge for the calls that follow. @throws Disconnected */
  async start(how: { script?: string; env?: Readonly<Record<string, string>> } = {}): Promise<void> {
    const { program, directory, stateDir, agentUrl } = this.#options;
    const { script = program, env = {} } = how;
    const token = await this.#options.token();
    const client = RawClient.spawn(
      { script, directory, remove: async () => undefined },
      { stateDir, agentUrl, token, env },
    );
    // A write to a killed process fails, and needs no report.
    client.process.stdin.on('error', () => undefined);
    const exited = once(client.process, 'exit').then(() => undefined);
    this.#running = { client, exited, ready: client.initialize() };
  }

  /** Sends SIGKILL, also during the initialization. @returns true if the bridge was killed during its initialization */
  async kill(): Promise<boolean> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return false;
    const initialized = await Promise.race([running.ready.then(() => true), Promise.resolve(false)]);
    await running.client.kill();
    return !initialized;
  }

  /** Closes the bridge's stdin, like a client that exits. @returns the exit code; null after a kill */
  async close(): Promise<number | null> {
    const code = (await this.#running?.client.close()) ?? null;
    this.#running = undefined;
    return code;
  }

  /** Calls a tool of the bridge. Starts a bridge if none runs. @throws Disconnected */
  async callTool(name: string, args: object): Promise<ToolResult> {
    if (this.#running === undefined) await this.start();
    const running = this.#running;
    if (running === undefined) throw new Disconnected('the bridge was killed before it was asked');
    const { client, exited, ready } = running;
    const { process: child } = client;
    const call = async (): Promise<Line> => {
      await ready;
      return client.request('tools/call', { name, arguments: args, _meta: WHOLE });
    };
    const ended = child.exitCode !== null || child.signalCode !== null;
    const line = ended ? undefined : await Promise.race([call(), exited]);
    if (line === undefined) {
      if (this.#running === running) this.#running = undefined;
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
}
