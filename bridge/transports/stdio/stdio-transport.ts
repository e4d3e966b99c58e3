/**
 * Serves MCP over this process's stdin and stdout. B2: stdout carries only MCP messages. The class adds errors for
 * invalid lines, and corrects the SDK's error codes.
 *
 * S3: a slow reader costs limited memory. While the client does not read, messages wait here in their order. The SDK
 * alone would add a listener to stdout for each of them.
 */
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { McpLineFilter } from './line-filter.ts';
import { fixInvalidParamsError } from './fix-invalid-params-error.ts';

export class StdioTransport extends StdioServerTransport {
  readonly #stdout: Writable;
  /** Settles when stdout has accepted the newest message. The next message waits for it. */
  #last: Promise<void> = Promise.resolve();
  /** The number of messages that wait for an earlier message. */
  #waiting = 0;

  constructor(stdin: Readable, stdout: Writable, log: Logger) {
    const gate = new McpLineFilter((refusal) => {
      log.warn({ refusal }, 'a line on stdin is not an MCP message');
      stdout.write(`${JSON.stringify(refusal)}\n`);
    });
    super(stdin.pipe(gate), stdout);
    this.#stdout = stdout;
  }

  override send(message: JSONRPCMessage): Promise<void> {
    const waits = this.#waiting > 0 || this.#stdout.writableNeedDrain;
    this.#last = waits ? this.#sendLater(message) : super.send(fixInvalidParamsError(message));
    return this.#last;
  }

  async #sendLater(message: JSONRPCMessage): Promise<void> {
    this.#waiting += 1;
    // The sender of the earlier message handles its error.
    await this.#last.catch(() => undefined);
    this.#waiting -= 1;
    await super.send(fixInvalidParamsError(message));
  }
}
