/**
 * Filters stdin, line by line, before the SDK reads it. MCP messages and empty lines pass. Any other line gets a
 * typed error, and no other message is lost (X3). The length of a line is limited, so an endless line costs
 * bounded memory.
 */
import { Transform, type TransformCallback } from 'node:stream';
import { type FrameError, frameErrorOf, tooLong } from './frame.ts';

/** Slightly below the SDK's limit of 10 MiB with the line feed. The SDK closes the connection above that limit. */
export const MAX_FRAME = 10 * 1024 * 1024 - 1;

const NEWLINE = 0x0a;

export class FrameGate extends Transform {
  readonly #refuse: (refusal: FrameError) => void;
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(refuse: (refusal: FrameError) => void, limit: number = MAX_FRAME) {
    super();
    this.#refuse = refuse;
    this.#limit = limit;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
    done();
  }

  /** Beyond the limit, keeps only the length. */
  #add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length <= this.#limit) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #endLine(): void {
    const over = this.#length > this.#limit;
    const line = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    const refused = over ? tooLong(this.#limit) : frameErrorOf(line.toString('utf8'));
    if (refused !== undefined) this.#refuse(refused);
    else this.push(Buffer.concat([line, Buffer.of(NEWLINE)]));
  }
}
