/** Converts the results of the bridge's MCP tools to task reports. */
import type { Answer } from '../../protocol/question.ts';
import * as z from 'zod/mini';
import type { ToolProgress } from '../../protocol/call-view.ts';
import { SESSION_STATES } from '../../protocol/session-states.ts';
import { ClientError } from '../core/client-error.ts';
import { validateAs } from '../core/http-client.ts';
import type { TaskReport, TaskState } from '../core/task-report.ts';
import type { Decision } from '../core/task-request.ts';
import type { ProgressParams } from './json-rpc.ts';

export const mcpCallResultSchema = z.object({
  content: z.prefault(z.array(z.object({ type: z.string(), text: z.optional(z.string()) })), []),
  structuredContent: z.optional(z.unknown()),
  isError: z.optional(z.boolean()),
  _meta: z.optional(z.record(z.string(), z.unknown())),
});
export type McpCallResult = z.infer<typeof mcpCallResultSchema>;

const toolExecution = z.object({
  toolId: z.string(),
  tool: z.string(),
  title: z.string(),
  state: z.string(),
  startedAt: z.nullable(z.string()),
  sessionId: z.string(),
});
export type SessionToolExecution = z.infer<typeof toolExecution>;

const TOOL_EXECUTIONS = 'mcp-a2a-bridge/toolExecutions';
const ERROR = 'mcp-a2a-bridge/error';

const errorMeta = z.object({ reason: z.string(), facts: z.record(z.string(), z.string()) });

/** Accepts a field that is absent, and gives it the value null. The bridge omits a field that has no value. */
function absentIsNull<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.prefault(z.nullable(schema), null);
}

const sessionReport = z.object({
  sessionId: z.string(),
  taskId: absentIsNull(z.string()),
  state: z.enum(SESSION_STATES),
  message: z.string(),
  output: z.string(),
  notDone: z.prefault(z.string(), ''),
  pending: z.array(
    z.object({
      callId: z.string(),
      shown: z.string(),
      tool: z.string(),
      title: z.string(),
      input: z.record(z.string(), z.unknown()),
      sideEffect: z.enum(['none', 'files', 'command', 'network', 'other']),
      reason: z.enum(['approval', 'outcome-unknown', 'content-changed', 'question']),
      preview: z.string(),
      expiresAt: absentIsNull(z.string()),
      decisions: z.array(z.string()),
    }),
  ),
  question: absentIsNull(z.object({ text: z.string() })),
});

export const sessionListSchema = z.object({ sessions: z.array(z.object({ sessionId: z.string() })) });

/** The task state for each session state of the bridge. Null means that the bridge does not know how the task ended. */
const STATES: Readonly<Record<z.infer<typeof sessionReport>['state'], TaskState | null>> = {
  not_delivered: 'not-delivered',
  working: 'working',
  input_required: 'waiting',
  completed: 'completed',
  cancelled: 'canceled',
  failed: 'failed',
  rejected: 'rejected',
  unknown_to_agent: null,
  // The agent reports no state for this task, so the client does not wait for one.
  unknown: null,
};

const WORDS = ['approve', 'answer', 'deny', 'edit'] as const;

/**
 * Converts the result of an MCP tool to a report. A failed task also has a report.
 * @throws ClientError if the result has no report, or if the bridge does not know how the task ended. The error has the
 * reason `UNKNOWN_TASK` if the agent no longer has the task.
 */
export function taskReportOf(result: McpCallResult): TaskReport {
  const report = sessionReport.safeParse(result.structuredContent).data;
  const { state: given, pending, question, ...rest } = report ?? structuredContentOf(sessionReport, result);
  const state = STATES[given];
  if (state === null) throw outcomeUnknown(given, rest);
  return {
    ...rest,
    state,
    pending: pending.map(({ preview, decisions, ...action }) => ({
      ...action,
      preview: { type: 'text', text: preview },
      decisions: WORDS.filter((word) => decisions.includes(word)),
    })),
    question: question?.text ?? null,
    tools: runningToolsOf(result),
    cursor: null,
  };
}

function outcomeUnknown(
  state: string,
  { sessionId, message }: Pick<z.infer<typeof sessionReport>, 'sessionId' | 'message'>,
): ClientError {
  const facts = { sessionId };
  return state === 'unknown_to_agent'
    ? new ClientError('refused', message, { reason: 'UNKNOWN_TASK', facts })
    : new ClientError(
        'outcome-unknown',
        `The agent reports no state of the task in session ${sessionId}. Look at the agent. ${message}`.trim(),
        { facts },
      );
}

export function runningToolsOf(result: WithMeta): readonly SessionToolExecution[] {
  return findRunningTools(result) ?? [];
}

type WithMeta = Pick<McpCallResult, '_meta'>;

/**
 * Returns the running tool executions in the `_meta` of a result or a progress notification. Returns undefined if
 * `_meta` has no such list.
 */
export function findRunningTools({ _meta: meta }: WithMeta): readonly SessionToolExecution[] | undefined {
  const executions = z.array(toolExecution).safeParse(meta?.[TOOL_EXECUTIONS]).data;
  return executions?.filter(({ state }) => state === 'running');
}

/**
 * Returns the finished steps and the total of a progress notification. Returns undefined if the notification has no
 * total. `progress` may lie between two steps, so the number of finished steps is rounded down.
 */
export function toolProgressFromNotification({ progress, total }: ProgressParams): ToolProgress | undefined {
  return total === undefined ? undefined : { done: Math.floor(progress), total };
}

/**
 * Returns the structured content of a result.
 * @throws ClientError `refused` with the bridge's message, if the result has `isError`
 */
export function structuredContentOf<Schema extends z.ZodMiniType>(
  schema: Schema,
  { content, structuredContent, isError, _meta: meta }: McpCallResult,
): z.output<Schema> {
  const text = content.map((part) => part.text ?? '').join('\n');
  if (isError === true) {
    const { reason, facts } = errorMeta.safeParse(meta?.[ERROR]).data ?? {};
    throw new ClientError('refused', text, {
      ...(reason !== undefined && { reason }),
      ...(facts !== undefined && { facts }),
    });
  }
  return validateAs(schema, structuredContent, text);
}

/** An entry of the argument `decisions`. JSON omits undefined fields. */
type BridgeDecision = Pick<Decision, 'callId' | 'shown' | 'reason'> &
  (
    | {
        decision: 'approve' | 'trust_tool' | 'trust_server' | 'trust_always';
        trustMinutes: number | undefined;
        trustUses: number | undefined;
      }
    | { decision: 'deny' }
    | { decision: 'answer'; answer: Answer }
    | { decision: 'edit'; editedContent: string }
    | { decision: 'edit'; editedInput: Record<string, unknown> }
  );

const SCOPES = {
  tool: 'trust_tool',
  server: 'trust_server',
  always: 'trust_always',
  once: 'approve',
} as const;

/** Converts a decision to an entry of the argument `decisions` of the bridge's MCP tool. */
export function toBridgeDecision(decision: Decision): BridgeDecision {
  const { callId, shown, reason } = decision;
  const common = { callId, shown, reason };
  switch (decision.decision) {
    case 'approve':
      return {
        ...common,
        decision: SCOPES[decision.scope ?? 'once'],
        trustMinutes: decision.grant?.minutes,
        trustUses: decision.grant?.uses,
      };
    case 'deny':
      return { ...common, decision: decision.decision };
    case 'answer':
      return { ...common, decision: decision.decision, answer: decision.answer };
    case 'edit':
      return 'content' in decision
        ? { ...common, decision: decision.decision, editedContent: decision.content }
        : { ...common, decision: decision.decision, editedInput: decision.input };
  }
}
