/**
 * Answers to one client that the client has not confirmed. MCP has no receipt: after a kill, a bridge cannot know
 * whether the client has read its last answer. A later call of the same client shows that earlier answers arrived.
 */

/** Records that the client has the answer. It does not throw. */
export type OnReceipt = () => void;

export interface SentAnswers {
  /** The bridge has passed the answer to this request to the connection. */
  sent(request: string | number, onReceipt: readonly OnReceipt[]): void;
  /** The client calls again, or ends its connection normally. So it has the answers that arrived before. */
  confirm(): void;
}

/** For one ordered connection, such as stdio: a client that calls again has every earlier answer. */
export class UnconfirmedAnswers implements SentAnswers {
  #sent: OnReceipt[] = [];

  sent(_request: string | number, onReceipt: readonly OnReceipt[]): void {
    this.#sent.push(...onReceipt);
  }

  confirm(): void {
    for (const record of this.#sent.splice(0)) record();
  }
}
