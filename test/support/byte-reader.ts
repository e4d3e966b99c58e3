/** Reads a stream in the portions that a protocol needs. The kernel holds unread bytes back at the sender. */

/** Maximum length of a line. */
const MAX_LINE = 64 * 1024;

export class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next line, without its CRLF. @throws if the bytes end before */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf('\r\n');
      if (end !== -1) return this.#taken(end + 2).toString('latin1', 0, end);
      if (this.#held.length > MAX_LINE) throw new Error(`a line is longer than ${MAX_LINE} bytes`);
      if (!(await this.#more())) throw new Error('the bytes ended in the middle of a line');
    }
  }

  /** The next bytes, from 1 to `max`; undefined at the end. */
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
