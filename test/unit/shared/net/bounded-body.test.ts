import { describe, expect, test } from '@jest/globals';
import { readBoundedBytes, SseEventLimit } from '../../../../shared/net/bounded-body.ts';

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

/** Returns the limit's first complaint about these chunks. */
function complaint(limit: SseEventLimit, chunks: readonly string[]): string | undefined {
  return chunks.map((chunk) => limit.exceededWith(encoder.encode(chunk))).find((each) => each !== undefined);
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
    (end) => {
      const text = frames.map((frame) => `${frame}${end}${end}`).join('');
      for (const length of [1, 2, 3, 5, 7, 11, 1000])
        expect(complaint(new SseEventLimit(30), cut(text, length))).toBeUndefined();
    },
  );

  test('X3 a stream without end is too large, however small its events are', () => {
    expect(complaint(new SseEventLimit(30, 300), cut('data: x\n\n'.repeat(40), 5))).toMatch(
      /answer of more than/,
    );
  });

  test.each([
    ['an endless line', `data: ${'x'.repeat(100)}`],
    ['an event with endless lines', 'data: x\n'.repeat(20)],
    ['an event with endless lines that end with CR LF', 'data: x\r\n'.repeat(20)],
  ])('X3 %s is too large', (_, text) => {
    expect(complaint(new SseEventLimit(30), cut(text, 5))).toMatch(/event of more than/);
  });
});
