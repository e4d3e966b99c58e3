/**
 * The approval card: a page that an MCP host shows in its chat (MCP Apps, specification 2026-01-26). The bridge and the
 * card share these types.
 */
import { z } from 'zod';

export const CARD_URI = 'ui://mcp-a2a-bridge/approval-card.html';
/** The only type of MCP Apps pages. */
export const CARD_MIME_TYPE = 'text/html;profile=mcp-app';

/** The facts about one session that the card shows. */
export const cardStateSchema = z.object({
  sessionId: z.string(),
  agent: z.string(),
  state: z.string(),
  /** The text of the agent's status. */
  message: z.string(),
  pending: z.array(
    z.object({
      /** The pending action, as the tool-approval extension has it. */
      action: z.looseObject({ callId: z.string(), shown: z.string(), title: z.string() }),
      /** The code for one decision on this action. Absent if the card cannot decide. */
      code: z.string().optional(),
    }),
  ),
  /** A question of the agent that is not a pending action. A person answers it in the chat. */
  question: z.string().optional(),
  /** The agent's approval page at this task, without credentials. Present if only the person may decide. */
  page: z.string().optional(),
});
export type CardState = z.infer<typeof cardStateSchema>;
