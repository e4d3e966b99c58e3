/** Provides a `fetch` whose connections break after the number of events that a test sets. */

/** The requests so far, and the faults to apply. */
export class CuttingFetch {
  /** Method and path of each request, oldest first. */
  readonly asked: string[] = [];
  /** Number of events after which the answer to this request is lost; undefined if it is not lost. */
  cutAfter: (request: string) => number | undefined = () => undefined;

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const request = `${init?.method ?? 'GET'} ${url.pathname}`;
    this.asked.push(request);
    const events = this.cutAfter(request);
    const response = await fetch(input, init);
    if (events === undefined || response.body === null) return response;
    if (events === 0) {
      await response.body.cancel();
      throw new TypeError('the connection was cut before the answer');
    }
    return new Response(cut(response.body, events), response);
  };
}

/** Breaks the stream after this many events, in the middle of the next one. */
function cut(body: ReadableStream<Uint8Array>, events: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let text = '';
  let passed = 0;
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end >= 0 && passed < events) {
          passed += 1;
          controller.enqueue(encoder.encode(text.slice(0, end + 2)));
          text = text.slice(end + 2);
          return;
        }
        if (passed >= events && text.length > 5) {
          controller.enqueue(encoder.encode(text.slice(0, 5)));
          await reader.cancel();
          controller.error(new TypeError('the connection was cut'));
          return;
        }
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        text += decoder.decode(value, { stream: true });
      }
    },
    cancel: () => reader.cancel(),
  });
}
