/**
 * A client's message with decisions on pending actions, or with revoked grants, part of
 * `urn:mcp-a2a-bridge:tool-approval:v1`.
 */
import { z } from 'zod';
import { decisionWordSchema } from './call-view.ts';
import { TOOL_APPROVAL_EXTENSION } from './extensions.ts';
import { presenceAssertionSchema } from './presence-assertion.ts';
import { answerSchema } from './question.ts';

/**
 * The tool calls that a decision covers. `once` covers this call. `tool` also covers later calls of the same tool,
 * `server` later calls of all tools of the same MCP server, and `always` all later calls.
 */
export const decisionScopeSchema = z.enum(['once', 'tool', 'server', 'always']);
export type DecisionScope = z.infer<typeof decisionScopeSchema>;

/**
 * The limits of a grant: a decision that also covers later tool calls. `minutes` count from the decision. `uses` is the
 * number of later calls. The grant ends at the first limit that it reaches. Without limits, it lasts as long as the
 * task.
 */
export const grantLimitsSchema = z
  .strictObject({
    minutes: z.number().positive().max(525_600).optional(),
    uses: z.int().min(1).max(100_000).optional(),
  })
  .refine(({ minutes, uses }) => minutes !== undefined || uses !== undefined, {
    message: 'it needs minutes, uses, or both',
  });
export type GrantLimits = z.infer<typeof grantLimitsSchema>;

/**
 * One decision on a pending action.
 *
 * - `shown` is the code of the question that the person saw. A decision is valid only for what the person saw (D2). So
 *   the client that shows the question stores this code, and nothing may replace it.
 * - `edit` needs `input` or `content`. No other decision may have them. `input` replaces the whole input. `content`
 *   replaces only the text of a tool that writes a file.
 * - `answer` needs `answer`. No other decision may have it.
 */
export const decisionSchema = z
  .strictObject({
    /** The id of the pending action. */
    callId: z.string().min(1).max(200),
    /** The code of the pending action, as the person saw it. */
    shown: z.string().min(1).max(100),
    decision: decisionWordSchema,
    scope: decisionScopeSchema.default('once'),
    /** The limits of the grant. Allowed only if the scope is not `once`. */
    grant: grantLimitsSchema.optional(),
    input: z.record(z.string(), z.unknown()).optional(),
    content: z.string().optional(),
    answer: z.optional(answerSchema),
    /** The person's reason. The agent receives it, and the journal records it. */
    reason: z.string().max(10_000).optional(),
    /** The assertion of the person's passkey. Its WebAuthn challenge is a hash of this decision. */
    presence: presenceAssertionSchema.optional(),
  })
  .refine((d) => (d.decision === 'edit') === (d.input !== undefined || d.content !== undefined), {
    message: 'edit needs the new input or content, and only edit takes one',
  })
  .refine((d) => (d.decision === 'answer') === (d.answer !== undefined), {
    message: 'answer needs the answer, and only answer takes one',
  })
  .refine((d) => d.grant === undefined || d.scope !== 'once', {
    message: 'grant limits a trust, and goes with scope tool, server or always',
  });
export type Decision = z.infer<typeof decisionSchema>;

export const decisionsPartSchema = z.strictObject({
  extension: z.literal(TOOL_APPROVAL_EXTENSION),
  decisions: z.array(decisionSchema).min(1).max(100),
  /**
   * Names the user interface in which the person decided: `tool`, `elicitation`, `task-form`, `page`, `cli`, … The
   * journal records this name.
   */
  channel: z.string().max(50).optional(),
});
export type DecisionsPart = z.infer<typeof decisionsPartSchema>;

/** Revokes the named grants of a task, or all its grants. A covered call that has not started becomes pending again. */
export const revokePartSchema = z.strictObject({
  extension: z.literal(TOOL_APPROVAL_EXTENSION),
  revoke: z.union([z.literal('all'), z.array(z.string().min(1).max(200)).min(1).max(1000)]),
  channel: z.string().max(50).optional(),
});
export type RevokePart = z.infer<typeof revokePartSchema>;
