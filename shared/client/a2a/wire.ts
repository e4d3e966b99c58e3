/**
 * Schemas of the A2A 1.0 messages (HTTP+JSON) and extension fields that this client reads. The schemas use `zod/mini`,
 * because the full `zod` makes a web page's bundle ten times as large.
 */
import { tokenUsageSchema } from '../../protocol/cost-report.ts';
import * as z from 'zod/mini';
import { RESUMABLE_STREAM_EXTENSION, TOOL_APPROVAL_EXTENSION } from '../../protocol/extensions.ts';
import { demandedApproverSchema } from '../../protocol/demanded-approver.ts';
import {
  callReferenceFields,
  decisionWordSchema,
  pendingReasonSchema,
  previewSchema,
  sideEffectSchema,
} from '../../protocol/call-view.ts';

const part = z.object({ text: z.optional(z.string()), data: z.optional(z.unknown()) });
const message = z.object({ parts: z.prefault(z.array(part), []) });
const status = z.object({
  state: z.string(),
  message: z.optional(message),
  timestamp: z.optional(z.string()),
});
const artifact = z.object({
  artifactId: z.string(),
  parts: z.prefault(z.array(part), []),
  /**
   * An artifact with a `role` is not part of the agent's answer (see `artifactRoleSchema` in
   * `protocol/tool-approval.ts`).
   */
  metadata: z.optional(
    z.object({ [TOOL_APPROVAL_EXTENSION]: z.optional(z.object({ role: z.optional(z.string()) })) }),
  ),
});

export type WireUsage = z.infer<typeof tokenUsageSchema>;

const metadata = z.object({
  [RESUMABLE_STREAM_EXTENSION]: z.optional(z.object({ seq: z.number() })),
  [TOOL_APPROVAL_EXTENSION]: z.optional(
    z.object({
      // `unknown` accepts activity types of later servers.
      activity: z.optional(z.unknown()),
      calls: z.optional(
        z.array(z.object({ ...callReferenceFields, toolId: z.nullable(z.string()), state: z.string() })),
      ),
      usage: z.optional(tokenUsageSchema),
      sessionUsage: z.optional(tokenUsageSchema),
    }),
  ),
});

export const taskSchema = z.object({
  id: z.string(),
  contextId: z.string(),
  status,
  artifacts: z.prefault(z.array(artifact), []),
  metadata: z.optional(metadata),
});
export type WireTask = z.infer<typeof taskSchema>;

/** One event of a stream. Exactly one field is present (A2A 1.0 §3.2.3). */
export const streamResponseSchema = z.object({
  task: z.optional(taskSchema),
  statusUpdate: z.optional(z.object({ status, metadata: z.optional(metadata) })),
  artifactUpdate: z.optional(
    z.object({
      artifact,
      append: z.optional(z.boolean()),
      metadata: z.optional(metadata),
    }),
  ),
});
export type WireEvent = z.infer<typeof streamResponseSchema>;
export type WireStatus = z.infer<typeof status>;
export type WireMetadata = z.infer<typeof metadata>;

/** The data part of the `input-required` status: the actions that wait for a person. */
export const pendingActionsSchema = z.object({
  extension: z.literal(TOOL_APPROVAL_EXTENSION),
  pending: z.array(
    z.object({
      ...callReferenceFields,
      input: z.record(z.string(), z.unknown()),
      shown: z.string(),
      source: z.optional(z.object({ type: z.enum(['built-in', 'mcp-server', 'acp-agent']) })),
      sideEffect: sideEffectSchema,
      preview: previewSchema,
      workspace: z.optional(z.string()),
      reason: pendingReasonSchema,
      expiresAt: z.nullable(z.string()),
      presence: z.optional(z.literal(true)),
      approver: z.optional(demandedApproverSchema),
      decisions: z.array(decisionWordSchema),
    }),
  ),
});

export const sendMessageResponseSchema = z.object({ task: z.optional(taskSchema) });

/** The response to `GET /api/tools`. */
export const runningToolsResponseSchema = z.object({
  tools: z.array(
    z.object({
      toolId: z.string(),
      tool: z.string(),
      title: z.string(),
      taskId: z.string(),
      sessionId: z.string(),
      callId: z.string(),
      /** The start time in RFC 3339. */
      startedAt: z.string(),
      ageMs: z.number(),
      /** The execution's last output or progress message. Null if there is none. */
      progress: z.unknown(),
    }),
  ),
});

/**
 * The response to `GET /tasks`. The client requests it with the history, because the title of a task is in its first
 * message.
 */
export const taskListSchema = z.object({
  tasks: z.prefault(
    z.array(
      z.object({
        id: z.string(),
        contextId: z.string(),
        status,
        history: z.prefault(z.array(message), []),
        metadata: z.optional(metadata),
      }),
    ),
    [],
  ),
  nextPageToken: z.prefault(z.string(), ''),
  totalSize: z.prefault(z.number(), 0),
});
