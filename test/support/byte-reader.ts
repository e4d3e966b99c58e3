/** Bytes from a stream, taken in the portions a protocol wants. What is not asked for stays with the sender. */

/** The longest line anybody has reason to send. */
const MAX_LINE = 64 * 1024;

export class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next line, without its CRLF. @throws when the bytes end before it does. */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf('\r\n');
      if (end !== -1) return this.#taken(end + 2).toString('latin1', 0, end);
      if (this.#held.length > MAX_LINE) throw new Error(`a line is longer than ${MAX_LINE} bytes`);
      if (!(await this.#more())) throw new Error('the bytes ended in the middle of a line');
    }
  }

  /** What comes next, from 1 to `max` bytes; undefined when the bytes have ended. */
  async some(max: number): Promise<Buffer | undefined> {
    if (this.#held.length === 0 && !(await this.#more())) return undefined;
    return this.#taken(Math.min(max, this.#held.length));
  }

  #taken(count: number): Buffer {
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  async #more(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done) return false;
    this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value]);
    return true;
  }
}
