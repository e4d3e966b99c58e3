import { describe, expect, test } from '@jest/globals';
import { readBoundedBytes, createSseLimiter } from '../../../../shared/net/bounded-body.ts';

const encoder = new TextEncoder();
const failing = (message: string): Error => new Error(message);

function bodyOf(chunks: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
}

/** Returns the output for these chunks. Rejects with the error that ended the stream. */
async function through(
  bound: TransformStream<Uint8Array, Uint8Array>,
  chunks: readonly string[],
): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of bodyOf(chunks).pipeThrough(bound))
    text += decoder.decode(chunk, { stream: true });
  return text;
}

/** Splits the text into pieces of this length. */
function cut(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, n) =>
    text.slice(n * length, (n + 1) * length),
  );
}

describe('the size limit of a response body', () => {
  test('a body within the limit is returned', async () => {
    const bytes = await readBoundedBytes(bodyOf(['abc', 'def']), 6, failing);
    expect(Buffer.from(bytes).toString()).toBe('abcdef');
  });

  test('X3 a body beyond the limit fails, and its rest is not read', async () => {
    let asked = 0;
    let left = false;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          asked += 1;
          controller.enqueue(encoder.encode('abc'));
        },
        cancel() {
          left = true;
        },
      },
      { highWaterMark: 0 },
    );
    await expect(readBoundedBytes(endless, 5, failing)).rejects.toThrow(/answer of more than/);
    expect({ asked, left }).toEqual({ asked: 2, left: true });
  });
});

describe('the size limit of SSE events', () => {
  const frames = Array.from({ length: 50 }, (_, n) => `data: ${String(n)}`);

  test.each(['\n', '\r\n'])(
    'small events pass in any number, for every split into chunks (line end %j)',
    async (end) => {
      const text = frames.map((frame) => `${frame}${end}${end}`).join('');
      for (const length of [1, 2, 3, 5, 7, 11, 1000]) {
        await expect(
          through(createSseLimiter({ maxEventBytes: 30 }, failing), cut(text, length)),
        ).resolves.toBe(text);
      }
    },
  );

  test('X3 an endless line fails', async () => {
    await expect(
      through(createSseLimiter({ maxEventBytes: 30 }, failing), cut(`data: ${'x'.repeat(100)}`, 7)),
    ).rejects.toThrow(/event of more than/);
  });

  test('X3 an event with endless lines fails', async () => {
    await expect(
      through(createSseLimiter({ maxEventBytes: 30 }, failing), cut('data: x\n'.repeat(20), 5)),
    ).rejects.toThrow(/event of more than/);
    await expect(
      through(createSseLimiter({ maxEventBytes: 30 }, failing), cut('data: x\r\n'.repeat(20), 5)),
    ).rejects.toThrow(/event of more than/);
  });

  test('a stream that is silent for too long fails', async () => {
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode(':\n\n')),
    });
    const reading = (async () => {
      for await (const _ of silent.pipeThrough(
        createSseLimiter({ maxEventBytes: 30, silenceMs: 5 }, failing),
      ))
        continue;
    })();
    // This timer keeps the process alive, because the stream's own timer does not.
    const alive = setInterval(() => undefined, 1000);
    await expect(reading).rejects.toThrow(/was silent/);
    clearInterval(alive);
  });
});
