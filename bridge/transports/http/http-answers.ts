/**
 * The answers to one client over HTTP. The client has an answer if the bridge wrote its response completely, and the client
 * then calls again or ends its session. A client that lost its connection can resume the response stream, or never gets
 * the answer.
 */
import type { OnReceipt, SentAnswers } from '../../sessions/unconfirmed-answers.ts';

/** How an HTTP exchange ended: its response was written completely, or not. */
export type ExchangeEnd = 'answered' | 'cut';

/** Cut answers of a long session stay, so their number is limited. */
const MAX_ANSWERS = 500;

interface Answer {
  onReceipt: readonly OnReceipt[];
  written: boolean;
  confirmed: boolean;
}

export class HttpAnswers implements SentAnswers {
  /** By request id, oldest first. */
  readonly #answers = new Map<string | number, Answer>();

  sent(request: string | number, onReceipt: readonly OnReceipt[]): void {
    if (onReceipt.length === 0) return;
    this.#answers.set(request, { onReceipt, written: false, confirmed: false });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
  }

  /** A response to this request is written completely. A response that ended without the answer changes nothing. */
  written(request: string | number): void {
    const answer = this.#answers.get(request);
    if (answer !== undefined) answer.written = true;
    this.#record();
  }

  /** The client may call again before the bridge notices the end of the last response. Then the answer waits for that. */
  confirm(): void {
    for (const answer of this.#answers.values()) answer.confirmed = true;
    this.#record();
  }

  #record(): void {
    for (const [request, { onReceipt, written, confirmed }] of this.#answers) {
      if (!written || !confirmed) continue;
      this.#answers.delete(request);
      for (const record of onReceipt) record();
    }
  }
}
