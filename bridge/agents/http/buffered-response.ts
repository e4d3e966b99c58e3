import type { HttpAnswer } from './send-http-request.ts';

/**
 * A response whose body was read completely. Node's own `Response` is created only for a caller that needs more than
 * status, text or JSON. The first `Response` loads all of `fetch`, which takes half as long as Node's start.
 */
export class BufferedResponse implements Response {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly type = 'default';
  readonly url = '';
  readonly redirected = false;
  readonly #body: Uint8Array<ArrayBuffer> | null;
  readonly #names: HttpAnswer['headers'];
  #response: Response | undefined;

  /** @param body null for a response without a body */
  constructor(
    body: Uint8Array<ArrayBuffer> | null,
    { status, statusText, headers }: Pick<HttpAnswer, 'status' | 'statusText' | 'headers'>,
  ) {
    this.ok = status >= 200 && status < 300;
    this.status = status;
    this.statusText = statusText;
    this.#body = body;
    this.#names = headers;
  }

  text(): Promise<string> {
    return Promise.resolve(new TextDecoder().decode(this.#body ?? undefined));
  }

  json(): Promise<unknown> {
    return this.text().then((text): unknown => JSON.parse(text));
  }

  get headers(): Headers {
    return this.#toNodeResponse().headers;
  }

  get body(): Response['body'] {
    return this.#toNodeResponse().body;
  }

  get bodyUsed(): boolean {
    return this.#toNodeResponse().bodyUsed;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#toNodeResponse().arrayBuffer();
  }

  blob(): Promise<Blob> {
    return this.#toNodeResponse().blob();
  }

  formData(): Promise<FormData> {
    return this.#toNodeResponse().formData();
  }

  clone(): Response {
    return this.#toNodeResponse().clone();
  }

  #toNodeResponse(): Response {
    const { status, statusText } = this;
    const headers = Object.fromEntries(this.#names);
    return (this.#response ??= new Response(this.#body, { status, statusText, headers }));
  }
}
