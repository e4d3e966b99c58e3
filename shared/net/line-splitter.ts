/** Splits a byte stream into lines. X3: no input may end the process, so the length of a line is limited. */

const LF = 10;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;
  /** True while the current line is too long. The rest of that line is dropped. */
  #skipping = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a chunk. Returns the complete lines without line breaks. `tooLong` is the number of dropped lines. */
  push(chunk: Buffer): { lines: string[]; tooLong: number } {
    const lines: string[] = [];
    let tooLong = 0;
    let from = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      if (this.#addPart(chunk.subarray(from, end))) tooLong += 1;
      if (!this.#skipping) lines.push(this.#takeLine());
      this.#skipping = false;
      from = end + 1;
    }
    if (this.#addPart(chunk.subarray(from))) tooLong += 1;
    return { lines, tooLong };
  }

  /** Adds a part to the current line. Returns true if this part makes the line too long. */
  #addPart(part: Buffer): boolean {
    if (this.#skipping) return false;
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size <= this.#maxBytes) return false;
    this.#takeLine();
    this.#skipping = true;
    return true;
  }

  #takeLine(): string {
    const line = Buffer.concat(this.#parts, this.#size).toString('utf8').replace(/\r$/, '');
    this.#parts = [];
    this.#size = 0;
    return line;
  }
}
