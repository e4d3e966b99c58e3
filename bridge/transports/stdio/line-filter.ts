/**
 * Filters stdin line by line, before the SDK reads it. MCP messages and empty lines pass. X3: no input may end the
 * process. The sender of any other line gets a typed error, and no other message is lost. The length of a line is
 * limited, so that an endless line cannot exhaust the memory.
 */
import { Transform, type TransformCallback } from 'node:stream';
import { LineSplitter } from '../../../shared/net/line-splitter.ts';
import { type McpLineError, mcpLineErrorOf, mcpLineTooLongError } from './check-line.ts';

/**
 * The maximum length of a line in bytes, slightly below 10 MiB. The SDK closes the connection if a line is longer than
 * 10 MiB.
 */
const MAX_LINE_BYTES = 10 * 1024 * 1024 - 1;

export class McpLineFilter extends Transform {
  readonly #refuse: (refusal: McpLineError) => void;
  readonly #limit: number;
  readonly #lines: LineSplitter;

  constructor(refuse: (refusal: McpLineError) => void, limit: number = MAX_LINE_BYTES) {
    super();
    this.#refuse = refuse;
    this.#limit = limit;
    this.#lines = new LineSplitter(limit);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const { lines, tooLong: dropped } = this.#lines.push(chunk);
    for (let count = 0; count < dropped; count += 1) this.#refuse(mcpLineTooLongError(this.#limit));
    for (const line of lines) {
      const refused = mcpLineErrorOf(line);
      if (refused === undefined) this.push(`${line}\n`);
      else this.#refuse(refused);
    }
    done();
  }
}
