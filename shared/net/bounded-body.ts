/**
 * Limits the size of response bodies. X3: no input may end the process. A server may send gigabytes, so the caller gets
 * an error before the memory is full.
 */
const LF = 10;
const CR = 13;

/** Creates the error for an exceeded limit. `message` is a sentence without a full stop. */
type MakeError = (message: string) => Error;
const plainError: MakeError = (message) => new Error(message);

/**
 * Reads the whole body.
 * @throws the error that `failing` creates, if the body exceeds `maxBytes`. The rest of the body is not read.
 */
export async function readBoundedBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  failing: MakeError = plainError,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > maxBytes) throw failing(tooLarge('answer', maxBytes));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, total);
}

/**
 * Limits the size of each event in a stream of server-sent events, and of the whole stream. The caller passes each
 * chunk of the stream once, in order.
 */
export class SseEventLimit {
  readonly #maxBytes: number;
  readonly #maxTotal: number;
  #open = 0;
  #total = 0;
  #lineEnded = true;

  constructor(maxBytes: number, maxTotal = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
    this.#maxTotal = maxTotal;
  }

  /** Returns a sentence without a full stop if the chunk makes an event or the stream too large. */
  exceededWith(chunk: Uint8Array): string | undefined {
    this.#total += chunk.length;
    if (this.#total > this.#maxTotal) return tooLarge('answer', this.#maxTotal);
    this.#open = afterLastBlankLine(chunk, this.#lineEnded) ?? this.#open + chunk.length;
    this.#lineEnded = endsLine(chunk, this.#lineEnded);
    return this.#open > this.#maxBytes ? tooLarge('event', this.#maxBytes) : undefined;
  }
}

/**
 * Returns a stream that passes every chunk on. If a chunk exceeds the limit, the stream fails with the error that
 * `failing` creates.
 */
export function createSseLimiter(
  limit: SseEventLimit,
  failing: MakeError = plainError,
): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      const exceeded = limit.exceededWith(chunk);
      if (exceeded === undefined) controller.enqueue(chunk);
      else controller.error(failing(exceeded));
    },
  });
}

/**
 * Returns the number of bytes after the last blank line, which ends an event. Returns undefined if there is no blank
 * line.
 */
function afterLastBlankLine(chunk: Uint8Array, startsLine: boolean): number | undefined {
  for (
    let index = chunk.lastIndexOf(LF);
    index >= 0;
    index = index === 0 ? -1 : chunk.lastIndexOf(LF, index - 1)
  ) {
    const before = chunk[index - 1] === CR ? index - 2 : index - 1;
    if (before < 0 ? startsLine : chunk[before] === LF) return chunk.length - index - 1;
  }
  return undefined;
}

function endsLine(chunk: Uint8Array, before: boolean): boolean {
  const last = chunk.at(-1);
  if (last === CR) return chunk.length === 1 ? before : chunk.at(-2) === LF;
  return last === undefined ? before : last === LF;
}

function tooLarge(what: string, maxBytes: number): string {
  return `the peer sent an ${what} of more than ${String(Math.round(maxBytes / 1024 / 1024))} MB`;
}
