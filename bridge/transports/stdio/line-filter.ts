/**
 * Filters stdin line by line, before the SDK reads it. MCP messages and empty lines pass. The sender of any other line
 * gets a typed error, and no other message is lost (X3). The length of a line is limited, so an endless line cannot
 * exhaust the memory.
 */
import { Transform, type TransformCallback } from 'node:stream';
import { LineSplitter } from '../../../shared/net/line-splitter.ts';
import { type FrameError, frameErrorOf, frameTooLongError } from './check-line.ts';

/** Slightly below 10 MiB with the line feed. Above that, the SDK closes the connection. */
export const MAX_FRAME = 10 * 1024 * 1024 - 1;

export class FrameGate extends Transform {
  readonly #refuse: (refusal: FrameError) => void;
  readonly #limit: number;
  readonly #lines: LineSplitter;

  constructor(refuse: (refusal: FrameError) => void, limit: number = MAX_FRAME) {
    super();
    this.#refuse = refuse;
    this.#limit = limit;
    this.#lines = new LineSplitter(limit);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const { lines, tooLong: dropped } = this.#lines.push(chunk);
    for (let count = 0; count < dropped; count += 1) this.#refuse(frameTooLongError(this.#limit));
    for (const line of lines) {
      const refused = frameErrorOf(line);
      if (refused === undefined) this.push(`${line}\n`);
      else this.#refuse(refused);
    }
    done();
  }
}
