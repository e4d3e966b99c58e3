/**
 * Serves MCP over this process's stdin and stdout (B2). Adds errors for invalid lines, and corrects the SDK's error
 * codes.
 *
 * S3: while the client does not read, messages wait here in order. The SDK would add a listener to stdout for each of
 * them.
 */
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { FrameGate } from './line-filter.ts';
import { withInvalidParams } from './invalid-params.ts';

export class StdioTransport extends StdioServerTransport {
  readonly #stdout: Writable;
  /** The newest message. Settles when stdout accepts the next one. */
  #last: Promise<void> = Promise.resolve();
  /** The number of messages that wait for `#last`. */
  #waiting = 0;

  constructor(stdin: Readable, stdout: Writable, log: Logger) {
    const gate = new FrameGate((refusal) => {
      log.warn({ refusal }, 'a line on stdin is not an MCP message');
      stdout.write(`${JSON.stringify(refusal)}\n`);
    });
    super(stdin.pipe(gate), stdout);
    this.#stdout = stdout;
  }

  override send(message: JSONRPCMessage): Promise<void> {
    const waits = this.#waiting > 0 || this.#stdout.writableNeedDrain;
    this.#last = waits ? this.#sendLater(message) : super.send(withInvalidParams(message));
    return this.#last;
  }

  async #sendLater(message: JSONRPCMessage): Promise<void> {
    this.#waiting += 1;
    // The error of an earlier message is ignored here, because the sender of that message gets it.
    await this.#last.catch(() => undefined);
    this.#waiting -= 1;
    await super.send(withInvalidParams(message));
  }
}
