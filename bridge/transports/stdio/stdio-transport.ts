/** MCP over this process's stdin and stdout (B2). Adds errors for invalid lines, and corrects the SDK's error codes. */
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { FrameGate } from './frame-gate.ts';
import { withInvalidParams } from './invalid-params.ts';

export class StdioTransport extends StdioServerTransport {
  constructor(stdin: Readable, stdout: Writable, log: Logger) {
    const gate = new FrameGate((refusal) => {
      log.warn({ refusal }, 'a line on stdin is not an MCP message');
      stdout.write(`${JSON.stringify(refusal)}\n`);
    });
    super(stdin.pipe(gate), stdout);
  }

  override send(message: JSONRPCMessage): Promise<void> {
    return super.send(withInvalidParams(message));
  }
}
