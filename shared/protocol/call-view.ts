/**
 * A tool call as clients see it: its preview, its side effect, the reason why it waits, and its steps. Part of
 * `urn:mcp-a2a-bridge:tool-approval:v1`. The schemas use `zod/mini`, because the full `zod` makes a web page's bundle
 * ten times as large.
 */
import * as z from 'zod/mini';
import { questionSchema } from './question.ts';

/** What a tool call can change. `none` means that it only reads, so the server may run it again without asking. */
export const sideEffectSchema = z.enum(['none', 'files', 'command', 'network', 'other']);
export type SideEffect = z.infer<typeof sideEffectSchema>;

export const previewSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('diff'), path: z.string(), diff: z.string() }),
  z.object({ type: z.literal('command'), command: z.string(), cwd: z.string() }),
  z.object({ type: z.literal('url'), url: z.string() }),
  z.object({ type: z.literal('json'), value: z.unknown() }),
  z.object({ type: z.literal('question'), ...questionSchema.shape }),
]);
export type Preview = z.infer<typeof previewSchema>;

/** The decisions that a person can make. `answer` is only for questions. `deny` declines a question. */
export const decisionWordSchema = z.enum(['approve', 'deny', 'edit', 'answer']);
export type DecisionWord = z.infer<typeof decisionWordSchema>;

/**
 * The reason why a tool call waits for a person.
 *
 * - `approval`: the call needs an approval.
 * - `outcome-unknown`: a crash interrupted the call, and its outcome is unknown.
 * - `content-changed`: the content behind the preview has changed since a person saw it.
 * - `question`: the call needs an answer, and no tool runs.
 */
export const pendingReasonSchema = z.enum(['approval', 'outcome-unknown', 'content-changed', 'question']);
export type PendingReason = z.infer<typeof pendingReasonSchema>;

/** Why a tool execution stopped early. There are only these five reasons (A1). */
export const stopReasonSchema = z.enum([
  'abort-request',
  'task-cancel',
  'timeout',
  'server-shutdown',
  'own-error',
]);
export type StopReason = z.infer<typeof stopReasonSchema>;

/**
 * The progress of a tool execution whose number of steps is known, e.g. 3 of 10 pages. `done` may include the current
 * step.
 */
export const toolProgressSchema = z.object({ done: z.number(), total: z.number() });
export type ToolProgress = z.infer<typeof toolProgressSchema>;

export const callReferenceFields = { callId: z.string(), tool: z.string(), title: z.string() };

/**
 * A step of a tool call, in `metadata[TOOL_APPROVAL_EXTENSION].activity` of a streamed status update. A client can show it as
 * progress. A client that wants to abort the call finds its `toolId` there.
 */
export const toolCallEventSchema = z.discriminatedUnion('type', [
  /**
   * The model has requested the call. `asks` is true if the call waits for a person. `question` is true if it then
   * needs an answer instead of an approval.
   */
  z.object({
    type: z.literal('tool.requested'),
    ...callReferenceFields,
    asks: z.boolean(),
    question: z.optional(z.literal(true)),
  }),
  z.object({
    type: z.literal('tool.decided'),
    ...callReferenceFields,
    decision: decisionWordSchema,
    by: z.string(),
    channel: z.string(),
    /** The person's reason. Absent if the person gave none. Older servers omit it. */
    reason: z.optional(z.string()),
    /** The SHA-256 (hex) of the input at the time of the decision. Older servers omit it. */
    inputHash: z.optional(z.string()),
  }),
  z.object({ type: z.literal('tool.started'), ...callReferenceFields, toolId: z.string() }),
  z.object({
    type: z.literal('tool.output'),
    ...callReferenceFields,
    toolId: z.string(),
    text: z.string(),
    progress: z.optional(toolProgressSchema),
  }),
  z.object({
    type: z.literal('tool.finished'),
    ...callReferenceFields,
    toolId: z.nullable(z.string()),
    outcome: z.enum(['ok', 'error', 'stopped', 'denied', 'skipped', 'withdrawn', 'unknown']),
    summary: z.string(),
    stopReason: z.optional(stopReasonSchema),
  }),
]);
export type ToolCallEvent = z.infer<typeof toolCallEventSchema>;
