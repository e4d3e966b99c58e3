/**
 * The A2A extension `urn:mcp-a2a-bridge:tool-approval:v1`: the schemas of pending actions (tool calls that wait for a
 * person) and of decisions on them.
 *
 * The status message of an `input-required` task contains one data part `{ extension, pending: [...] }`. A decision
 * message contains one data part `{ extension, decisions: [...] }`.
 *
 * A client without the extension reads the text part of the status message. If one action is pending, such a client may
 * reply to the task's first question with exactly `approve` or `deny`. For each later question, it must add the
 * action's code after the word. If the agent asks a question, any text is an answer.
 */
import { z } from 'zod';
import { TOOL_APPROVAL_EXTENSION } from './extensions.ts';
import {
  callReferenceFields,
  decisionWordSchema,
  pendingReasonSchema,
  previewSchema,
  sideEffectSchema,
} from './call-view.ts';
import { costSumSchema } from './cost-report.ts';
import { demandedApproverSchema } from './demanded-approver.ts';
import { decisionScopeSchema } from './decision.ts';
import { taskSettingsSchema } from './task-settings.ts';
import { todoSchema } from './todo.ts';

export { TOOL_APPROVAL_EXTENSION };
export {
  decisionSchema,
  decisionScopeSchema,
  decisionsPartSchema,
  grantLimitsSchema,
  revokePartSchema,
  type Decision,
  type DecisionScope,
  type DecisionsPart,
  type GrantLimits,
  type RevokePart,
} from './decision.ts';
export { taskModeSchema, taskSettingsSchema, type TaskMode, type TaskSettings } from './task-settings.ts';
export { type Todo } from './todo.ts';
export {
  toolCallEventSchema,
  decisionWordSchema,
  pendingReasonSchema,
  previewSchema,
  sideEffectSchema,
  stopReasonSchema,
  type ToolCallEvent,
  type DecisionWord,
  type PendingReason,
  type Preview,
  type SideEffect,
  type StopReason,
  type ToolProgress,
} from './call-view.ts';

export const toolSourceSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('built-in') }),
  z.object({ type: z.literal('mcp-server'), server: z.string() }),
  z.object({ type: z.literal('acp-agent'), agent: z.string() }),
]);
export type ToolSource = z.infer<typeof toolSourceSchema>;

const pendingActionSchema = z.object({
  /** The id of the tool call. A decision names the call by this id. */
  callId: z.string(),
  tool: z.string(),
  /** One line that says what the call will do, e.g. `Write test.md`. */
  title: z.string(),
  input: z.record(z.string(), z.unknown()),
  /**
   * The code of this pending action: 8 hex digits. It is a hash of the call, its input, the content of its preview, and
   * `reason`. A decision is valid only for what the person saw (D2). So a decision contains the code of the action that
   * the person saw, and the server refuses any other code.
   */
  shown: z.string(),
  sideEffect: sideEffectSchema,
  source: toolSourceSchema,
  preview: previewSchema,
  /**
   * The workspace of the task, on the agent's machine. The paths of the preview are relative to it. Present if the call
   * changes files.
   */
  workspace: z.string().optional(),
  reason: pendingReasonSchema,
  /**
   * True if this is the task's first question. A client without the extension may answer it with `approve` or `deny`
   * alone.
   */
  first: z.literal(true).optional(),
  /** The operator's rule that requires a decision although a grant covers the call. Absent if there is no such rule. */
  rule: z.string().optional(),
  /**
   * True if the operator's rule demands a passkey. An approval or an edit must then contain a WebAuthn assertion, which
   * only the server's page can create. A denial needs none.
   */
  presence: z.literal(true).optional(),
  /**
   * Says who may approve or edit the action, if the policy demands a special approver. For a reader who is not allowed
   * to, `decisions` contains neither `approve` nor `edit`. If the reader's token lacks the role for decisions,
   * `decisions` is empty.
   */
  approver: z.optional(demandedApproverSchema),
  /** The time in RFC 3339 after which no decision is possible. Null if the action never expires. */
  expiresAt: z.string().nullable(),
  /** The decisions that are possible for this action. */
  decisions: z.array(decisionWordSchema),
  /** The scopes that an approval may have. If absent, every scope that fits the tool's source is possible. */
  scopes: z.array(decisionScopeSchema).optional(),
});
export type PendingAction = z.infer<typeof pendingActionSchema>;

export const pendingActionsPartSchema = z.object({
  extension: z.literal(TOOL_APPROVAL_EXTENSION),
  pending: z.array(pendingActionSchema),
});

/**
 * `metadata[TOOL_APPROVAL_EXTENSION]` of an artifact that is not part of the agent's answer: the output of a tool execution, or
 * the agent's current to-do list. A client without this extension shows it like any other artifact.
 */
export const artifactRoleSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('tool-output'), toolId: z.string(), title: z.string() }),
  z.object({ role: z.literal('todos'), todos: z.array(todoSchema) }),
]);
export type ArtifactRole = z.infer<typeof artifactRoleSchema>;

/** The decision on a tool call. `by` is the user who decided, `at` the time (RFC 3339). */
const recordedDecisionSchema = z.object({
  decision: decisionWordSchema,
  by: z.string(),
  channel: z.string(),
  at: z.string(),
  inputHash: z.string(),
});
export type RecordedDecision = z.infer<typeof recordedDecisionSchema>;

/** Token counts, as the model provider reports them, and their cost. */
const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number().optional(),
  cacheWriteTokens: z.number().optional(),
  /** The cost in US dollars at the configured prices. Null if a price is missing. */
  usd: z.number().nullable().optional(),
});

/** A grant that is in effect: a decision that also covers later tool calls. Times are in RFC 3339. */
const grantViewSchema = z.object({
  grantId: z.string(),
  scope: decisionScopeSchema.exclude(['once']),
  /** The tool that the person's decision was about. With the scope `tool`, the grant covers only this tool. */
  tool: z.string(),
  source: toolSourceSchema,
  by: z.string(),
  channel: z.string(),
  at: z.string(),
  /** The time at which the grant ends. Null if it lasts as long as the task. */
  expiresAt: z.string().nullable(),
  /** The number of later tool calls that the grant still covers. Null if there is no limit. */
  usesLeft: z.number().nullable(),
});
export type GrantView = z.infer<typeof grantViewSchema>;

/** An MCP server whose tools the agent uses, and its current state. */
export const toolServerViewSchema = z.object({
  name: z.string(),
  state: z.enum(['starting', 'ready', 'down']),
  tools: z.number(),
  /** The reason why the server is down, or why some of its tools cannot be used. */
  error: z.string().optional(),
});
export type ToolServerView = z.infer<typeof toolServerViewSchema>;

/** `metadata[TOOL_APPROVAL_EXTENSION]` of a Task. It contains facts about the task that have no field in A2A. */
export const taskOverviewSchema = z.object({
  settings: taskSettingsSchema,
  turns: z.number(),
  calls: z.array(
    z.object({
      ...callReferenceFields,
      toolId: z.string().nullable(),
      sideEffect: sideEffectSchema,
      state: z.enum([
        'waiting',
        'ready',
        'running',
        'ok',
        'error',
        'stopped',
        'denied',
        'skipped',
        'answered',
        'withdrawn',
      ]),
      /** The start time in RFC 3339. Only a running call has it. */
      startedAt: z.string().optional(),
      /** The decision on the call. Absent if the call needs no decision, or has none yet. */
      decided: recordedDecisionSchema.optional(),
    }),
  ),
  /** The grants in effect. Older servers omit this field. */
  grants: z.array(grantViewSchema).optional(),
  /**
   * The agent's MCP servers. Present only in the response to GetTask, and only if the agent has such servers. It is not
   * streamed, because the state of a server can change without an event of the task.
   */
  servers: z.array(toolServerViewSchema).optional(),
  /** The usage of the task. `models` contains the usage of each model, if the task used several models. */
  usage: usage.extend({ models: z.array(usage.extend({ model: z.string() })).optional() }),
  /**
   * The instruction files of the workspace (e.g. AGENTS.md) that the agent has read. `cut` is true if the agent has
   * read only the beginning of the file.
   */
  instructions: z.array(z.object({ path: z.string(), bytes: z.number(), cut: z.boolean() })).optional(),
  /** The usage of all tasks of the session. Present only in the responses to GetTask and ListTasks. */
  sessionUsage: z.optional(costSumSchema).catch(undefined),
  /**
   * The files of the task. Absent if there are none. `callId` names the tool call whose result contains the file. A
   * file of a message has no `callId`.
   */
  files: z
    .array(
      z.object({
        /** The SHA-256 (hex) of the content. `GET /api/tasks/{id}/files/{hash}` returns the content. */
        hash: z.string(),
        bytes: z.number(),
        mediaType: z.string(),
        name: z.string().optional(),
        callId: z.string().optional(),
      }),
    )
    .optional(),
});
export type TaskOverview = z.infer<typeof taskOverviewSchema>;
