/** Builds the MCP result of a tool's reply, or of a refusal. Pure. */
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { Facts, Reason } from '../../../shared/runtime/errors.ts';
import { withoutHidden } from '../../../shared/text/visible-text.ts';
import { type ToolExecution, TOOL_EXECUTIONS } from '../reports/tool-executions.ts';

/** An interim answer: a task, or the forms that a person must answer before the call continues. */
export type InterimResult = CallToolResult | InputRequiredResult;

/** The reply of a tool. The text contains everything in the structured result. */
export interface ToolReply<Output> {
  structured: Output;
  text: string;
  /** The tool executions of the reply's task; absent if the reply has no task. */
  executions?: readonly ToolExecution[];
  /** The tool could not do the requested work. Its structured result reports this. */
  refusal?: Refusal;
  /** Sent in place of all other fields. */
  interim?: InterimResult;
}

/** `TASK_FAILED`: the call succeeded, but the task in its result has failed. */
export interface Refusal {
  reason: Reason | 'TASK_FAILED';
  facts: Facts;
}

export function toCallToolResult<Output extends Record<string, unknown>>({
  structured,
  text,
  executions,
  refusal,
}: ToolReply<Output>): CallToolResult {
  return {
    content: [{ type: 'text', text: withoutHidden(text) }],
    structuredContent: visibleFields(structured),
    ...(refusal === undefined ? {} : { isError: true }),
    ...(refusal === undefined && executions === undefined
      ? {}
      : {
          _meta: {
            ...(refusal === undefined ? {} : errorMeta(refusal)),
            ...(executions === undefined ? {} : { [TOOL_EXECUTIONS]: executions }),
          },
        }),
    ...metadataOf(executions ?? []),
  };
}

/** Fields that are not escaped, because the client sends ids back and edits the input. */
const EXACT: ReadonlySet<string> = new Set(['callId', 'sessionId', 'taskId', 'toolId', 'input']);

/**
 * Makes hidden characters visible in every result. Leaves out fields that are null, because each byte costs the model
 * tokens.
 */
function visibleFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, EXACT.has(key) ? value : visibleValue(value)]),
  );
}

function visibleValue(value: unknown): unknown {
  if (typeof value === 'string') return withoutHidden(value);
  if (Array.isArray(value)) return value.map(visibleValue);
  if (typeof value !== 'object' || value === null) return value;
  return visibleFields(value);
}

/** The error for programs: its reason and facts. */
export function errorMeta({ reason, facts }: Refusal): Record<string, unknown> {
  return { 'mcp-a2a-bridge/error': { reason, facts: { ...facts } } };
}

/**
 * For clients that read `metadata` and not `_meta`. `metadata.toolId` is the last running execution. If none runs, it
 * is the last execution.
 */
function metadataOf(executions: readonly ToolExecution[]): { metadata?: Record<string, unknown> } {
  const last = executions.findLast(({ state }) => state === 'running') ?? executions.at(-1);
  return last === undefined ? {} : { metadata: { toolId: last.toolId, toolExecutions: executions } };
}
