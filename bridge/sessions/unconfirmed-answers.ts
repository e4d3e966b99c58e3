/**
 * Answers to one client that the client has not confirmed. MCP has no receipt: after a kill, a bridge cannot know
 * whether the client has read its last answer. If the same client calls again, it has every earlier answer.
 */

/** Records that the client has the answer. It does not throw. */
export type OnReceipt = () => void;

export class UnconfirmedAnswers {
  #sent: OnReceipt[] = [];

  /** The bridge has passed an answer to the connection. */
  sent(onReceipt: readonly OnReceipt[]): void {
    this.#sent.push(...onReceipt);
  }

  /** The client calls again, or closes its connection normally. So it has the answers that were sent before. */
  confirm(): void {
    for (const record of this.#sent.splice(0)) record();
  }
}
