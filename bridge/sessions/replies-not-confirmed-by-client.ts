/**
 * Tracks the replies to tool calls that a client has not confirmed. MCP has no confirmation of a reply: after a crash,
 * a bridge cannot know whether the client has read the last reply. But if the same client sends another request, it has
 * received the earlier replies.
 */

/** Records that the client has received the reply. Does not throw. */
export type OnReplyConfirmed = () => void;

export interface SentReplies {
  /** Called when the bridge has written the reply to this request. */
  sent(request: string | number, onConfirmed: readonly OnReplyConfirmed[]): void;
  /**
   * Called when the client sends another request, or ends its connection normally. It has then received all earlier
   * replies.
   */
  confirm(): void;
}

/**
 * For a connection that keeps the order of messages, such as stdio. If the client sends another request, it has
 * received all earlier replies.
 */
export class OrderedSentReplies implements SentReplies {
  #sent: OnReplyConfirmed[] = [];

  sent(_request: string | number, onConfirmed: readonly OnReplyConfirmed[]): void {
    this.#sent.push(...onConfirmed);
  }

  confirm(): void {
    for (const record of this.#sent.splice(0)) record();
  }
}
