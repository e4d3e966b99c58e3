/**
 * Limits the size of response bodies. X3: no input may end the process. A server may send gigabytes, so the caller gets
 * an error before the memory is full.
 */
const LF = 10;
const CR = 13;

/** Creates the error for an exceeded limit. `message` is a sentence without a full stop. */
type MakeError = (message: string) => Error;

/**
 * Reads the whole body.
 * @throws the error that `failing` creates, if the body exceeds `maxBytes`. The rest of the body is not read.
 */
export async function readBoundedBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  failing: MakeError,
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
 * Returns a stream that passes server-sent events through. The stream fails if one event exceeds `maxEventBytes`, or if
 * no data arrives for `silenceMs`. A heartbeat counts as data.
 */
export function createSseLimiter(
  { maxEventBytes, silenceMs }: { maxEventBytes: number; silenceMs?: number | undefined },
  failing: MakeError,
): TransformStream<Uint8Array, Uint8Array> {
  let open = 0;
  let lineEnded = true;
  let timer: NodeJS.Timeout | undefined;
  return new TransformStream({
    start(controller) {
      if (silenceMs === undefined) return;
      timer = setTimeout(() => {
        controller.error(failing(`the stream was silent for ${String(silenceMs / 1000)} s`));
      }, silenceMs);
      timer.unref();
    },
    transform(chunk, controller) {
      timer?.refresh();
      const rest = afterLastBlankLine(chunk, lineEnded);
      open = rest ?? open + chunk.length;
      lineEnded = endsLine(chunk, lineEnded);
      if (open > maxEventBytes) controller.error(failing(tooLarge('event', maxEventBytes)));
      else controller.enqueue(chunk);
    },
    flush() {
      clearTimeout(timer);
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
