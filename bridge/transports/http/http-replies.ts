/**
 * Tracks the replies to one client over HTTP. A reply counts as received if its HTTP response was written completely,
 * and the client then calls again or leaves. A written response alone is no proof: the client may have lost its
 * connection before it read the response.
 */
import type { OnConfirmed, SentReplies } from '../../sessions/replies-not-confirmed-by-client.ts';

/** The end of an HTTP exchange: `answered` if its response was written completely. */
export type ExchangeEnd = 'answered' | 'cut';

/** Limits the number of entries, because replies that were cut off stay in the map. */
const MAX_ANSWERS = 500;

interface Answer {
  onConfirmed: readonly OnConfirmed[];
  written: boolean;
  confirmed: boolean;
}

export class HttpReplies implements SentReplies {
  readonly #answers = new Map<string | number, Answer>();

  sent(request: string | number, onConfirmed: readonly OnConfirmed[]): void {
    if (onConfirmed.length === 0) return;
    this.#answers.set(request, { onConfirmed, written: false, confirmed: false });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
  }

  /**
   * Call this when a response to the request is written completely. Has no effect if `sent` was not called for the
   * request.
   */
  written(request: string | number): void {
    const answer = this.#answers.get(request);
    if (answer !== undefined) answer.written = true;
    this.#record();
  }

  /** Call this when the client calls again. The last response may still be open, so a reply also needs `written`. */
  confirm(): void {
    for (const answer of this.#answers.values()) answer.confirmed = true;
    this.#record();
  }

  #record(): void {
    for (const [request, { onConfirmed, written, confirmed }] of this.#answers) {
      if (!written || !confirmed) continue;
      this.#answers.delete(request);
      for (const record of onConfirmed) record();
    }
  }
}
