/**
 * Filters an agent's stdout. ACP allows only lines with one JSON object, but some agents also print log lines. The
 * filter passes on the lines that may be messages, and stores the start of the other output for error messages.
 */
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';

const NEWLINE = 0x0a;
const BRACE = 0x7b;
const WHITESPACE = new Set([0x20, 0x09, 0x0d]);

/** The maximum number of stored bytes of the other output. */
const MAX_SAMPLE_BYTES = 300;
/** The maximum amount of invalid output, in bytes. A program with more invalid output is not an ACP agent. */
const MAX_OTHER_OUTPUT_BYTES = 1024 * 1024;

export class AcpStdoutFilter extends Transform {
  #line: 'begun' | 'message' | 'other' = 'begun';
  #sample = Buffer.alloc(0);
  #otherBytes = 0;

  /** The start of the output that cannot be ACP. Empty without such output. */
  get otherOutput(): string {
    return this.#sample.toString('utf8').trim();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#line === 'begun') {
        const first = chunk.subarray(at).findIndex((byte) => !WHITESPACE.has(byte));
        if (first === -1) break;
        at += first;
        if (chunk[at] === NEWLINE) {
          at += 1;
          continue;
        }
        this.#line = chunk[at] === BRACE ? 'message' : 'other';
      }
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline === -1 ? chunk.length : newline + 1;
      const piece = chunk.subarray(at, end);
      if (this.#line === 'message') this.push(piece);
      else this.#keepOtherOutput(piece);
      if (newline !== -1) this.#line = 'begun';
      at = end;
    }
    done(this.#otherBytes > MAX_OTHER_OUTPUT_BYTES ? new Error('too much of it was not ACP') : null);
  }

  #keepOtherOutput(piece: Buffer): void {
    this.#otherBytes += piece.length;
    const room = MAX_SAMPLE_BYTES - this.#sample.length;
    if (room > 0) this.#sample = Buffer.concat([this.#sample, piece.subarray(0, room)]);
  }
}
