/**
 * Tracks the replies to one client over HTTP. A reply counts as received in this case: its HTTP response was written
 * completely, and the client then sends another request or ends its MCP session. A written response alone proves
 * nothing: the client may have lost its connection before it read the response.
 */
import { setBounded } from '../../../shared/runtime/set-bounded.ts';
import type { OnReplyConfirmed, SentReplies } from '../../sessions/replies-not-confirmed-by-client.ts';

/** How an HTTP exchange ended. `answered`: its response was written completely. */
export type HttpExchangeEnd = 'answered' | 'cut';

/** The maximum number of stored replies. Only this limit removes replies that were cut off. */
const MAX_REPLIES = 500;

interface SentReply {
  onConfirmed: readonly OnReplyConfirmed[];
  written: boolean;
  confirmed: boolean;
}

export class HttpSentReplies implements SentReplies {
  readonly #answers = new Map<string | number, SentReply>();

  sent(request: string | number, onConfirmed: readonly OnReplyConfirmed[]): void {
    if (onConfirmed.length === 0) return;
    setBounded(this.#answers, request, { onConfirmed, written: false, confirmed: false }, MAX_REPLIES);
  }

  /**
   * Records that a response to the request was written completely. Has no effect if `sent` was not called for the
   * request.
   */
  written(request: string | number): void {
    const answer = this.#answers.get(request);
    if (answer !== undefined) answer.written = true;
    this.#confirmWritten();
  }

  /**
   * Records that the client has sent another request. The last response may still be open, so a reply needs `written`
   * too.
   */
  confirm(): void {
    for (const answer of this.#answers.values()) answer.confirmed = true;
    this.#confirmWritten();
  }

  #confirmWritten(): void {
    for (const [request, { onConfirmed, written, confirmed }] of this.#answers) {
      if (!written || !confirmed) continue;
      this.#answers.delete(request);
      for (const record of onConfirmed) record();
    }
  }
}
