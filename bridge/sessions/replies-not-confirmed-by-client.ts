/**
 * Tracks the replies that a client has not confirmed. MCP has no receipts: after a crash, a bridge cannot know whether
 * the client has read the last reply. A later call of the same client shows that earlier replies arrived.
 */

/** Records that the client has the reply. It does not throw. */
export type OnConfirmed = () => void;

export interface SentReplies {
  /** Called when the bridge has written the reply to this request. */
  sent(request: string | number, onConfirmed: readonly OnConfirmed[]): void;
  /** Called when the client calls again or ends its connection normally. It then has all earlier replies. */
  confirm(): void;
}

/** Used for an ordered connection, such as stdio. A client that calls again has every earlier reply. */
export class UnconfirmedReplies implements SentReplies {
  #sent: OnConfirmed[] = [];

  sent(_request: string | number, onConfirmed: readonly OnConfirmed[]): void {
    this.#sent.push(...onConfirmed);
  }

  confirm(): void {
    for (const record of this.#sent.splice(0)) record();
  }
}
