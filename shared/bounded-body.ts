/**
 * Bodies of answers, held to a size (X3). The bodies come from anybody: a line of two gigabytes must end in an error
 * that can be told, not in a process without memory.
 */
const LF = 10;
const CR = 13;

/** The error for what exceeds a bound, from a sentence without an end. */
export type Failing = (message: string) => Error;

/** All of a body. @throws what `failing` makes as soon as it exceeds `maxBytes`; the rest is not read. */
export async function boundedBytes(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  failing: Failing,
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
 * Passes a stream of server-sent events on until one event exceeds `maxEventBytes`, or nothing, not even a heartbeat,
 * has come for `silenceMs`.
 */
export function boundEvents(
  { maxEventBytes, silenceMs }: { maxEventBytes: number; silenceMs?: number | undefined },
  failing: Failing,
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

/** How many bytes follow the last blank line, which is what ends an event; undefined when there is none. */
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
  return `an ${what} of more than ${String(Math.round(maxBytes / 1024 / 1024))} MB came`;
}
