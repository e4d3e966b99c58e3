/**
 * Answers that one client was sent, and that it has not confirmed. MCP has no receipt: a bridge that is killed cannot know
 * whether its last answer was read. A later call of the same client shows that the client has every answer before it.
 */

/** Records that the client has the answer. It does not throw. */
export type OnReceipt = () => void;

export class UnconfirmedAnswers {
  #sent: OnReceipt[] = [];

  /** An answer has been handed to the connection. */
  sent(onReceipt: readonly OnReceipt[]): void {
    this.#sent.push(...onReceipt);
  }

  /** The client calls again, or closes its connection in order: it has the answers that were sent before. */
  confirm(): void {
    for (const record of this.#sent.splice(0)) record();
  }
}
