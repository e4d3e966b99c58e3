/**
 * The approval card: a page that an MCP client shows in its chat (MCP Apps, specification 2026-01-26). The bridge and
 * the card share these types.
 */
import { z } from 'zod';

export const APPROVAL_CARD_URI = 'ui://mcp-a2a-bridge/approval-card.html';
/** The only media type of MCP Apps pages. */
export const APPROVAL_CARD_MIME_TYPE = 'text/html;profile=mcp-app';

/** The state of one session, as the card shows it. */
export const cardStateSchema = z.object({
  sessionId: z.string(),
  agent: z.string(),
  state: z.string(),
  /** The agent's message about the state of the task. */
  message: z.string(),
  pending: z.array(
    z.object({
      /** The pending action, as the tool-approval extension defines it. */
      action: z.looseObject({ callId: z.string(), shown: z.string(), title: z.string() }),
      /**
       * A code that the card sends with its decision on this action. It is valid for one decision. Absent if the card
       * must not decide.
       */
      code: z.string().optional(),
    }),
  ),
  /** The decisions that the agent reports. */
  decided: z.array(
    z.object({ callId: z.string(), decision: z.string(), by: z.string(), channel: z.string() }),
  ),
  /** A question of the agent that is not a pending action. The person answers it in the chat. */
  question: z.string().optional(),
  /**
   * The URL of this task on the agent's approval page. It contains no credentials. Present if only the person may
   * decide, not the model.
   */
  page: z.string().optional(),
});
export type CardState = z.infer<typeof cardStateSchema>;
