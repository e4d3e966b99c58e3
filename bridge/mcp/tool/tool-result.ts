/** Converts the reply of a tool, or an error, to an MCP result. Pure. */
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { ErrorFacts, ErrorReason } from '../../../shared/runtime/errors.ts';
import { escapeHiddenCharacters } from '../../../shared/text/visible-text.ts';
import { type ReportedToolExecution, TOOL_EXECUTIONS_META_KEY } from '../reports/tool-executions.ts';

/** A result that does not end the tool call: an MCP task, or forms that a person must answer first. */
export type InterimResult = CallToolResult | InputRequiredResult;

/** The reply of a tool. The text contains all facts of the structured result. */
export interface ToolReply<Output> {
  structured: Output;
  text: string;
  /** The tool executions of the task. Absent if the reply is not about a task. */
  executions?: readonly ReportedToolExecution[];
  /** Present if the tool could not do what was asked. The structured result explains why. */
  refusal?: ResultError;
}

/** What a tool returns: its reply, or a result before the reply, such as a form or an MCP task. */
export type ToolAnswer<Output> = ToolReply<Output> | { interim: InterimResult };

/** `TASK_FAILED`: the tool call itself succeeded, but the task in its result has failed. */
export interface ResultError {
  reason: ErrorReason | 'TASK_FAILED';
  facts: ErrorFacts;
}

export function toCallToolResult<Output extends Record<string, unknown>>({
  structured,
  text,
  executions,
  refusal,
}: ToolReply<Output>): CallToolResult {
  return {
    content: [{ type: 'text', text: escapeHiddenCharacters(text) }],
    structuredContent: visibleFields(structured),
    ...(refusal === undefined ? {} : { isError: true }),
    ...(refusal === undefined && executions === undefined
      ? {}
      : {
          _meta: {
            ...(refusal === undefined ? {} : errorMeta(refusal)),
            ...(executions === undefined ? {} : { [TOOL_EXECUTIONS_META_KEY]: executions }),
          },
        }),
    ...metadataOf(executions ?? []),
  };
}

/** The fields that are not escaped, because the client sends ids back, and a person edits the input. */
const UNESCAPED_FIELDS: ReadonlySet<string> = new Set(['callId', 'sessionId', 'taskId', 'toolId', 'input']);

/** Escapes hidden characters. Omits fields that are null, because each byte costs the model tokens. */
function visibleFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, UNESCAPED_FIELDS.has(key) ? value : visibleValue(value)]),
  );
}

function visibleValue(value: unknown): unknown {
  if (typeof value === 'string') return escapeHiddenCharacters(value);
  if (Array.isArray(value)) return value.map(visibleValue);
  if (typeof value !== 'object' || value === null) return value;
  return visibleFields(value);
}

export function errorMeta({ reason, facts }: ResultError): Record<string, unknown> {
  return { 'mcp-a2a-bridge/error': { reason, facts: { ...facts } } };
}

/**
 * Builds the field `metadata`, for clients that do not read `_meta`. `metadata.toolId` is the id of the last running
 * tool execution, or if none runs, of the last one.
 */
function metadataOf(executions: readonly ReportedToolExecution[]): { metadata?: Record<string, unknown> } {
  const last = executions.findLast(({ state }) => state === 'running') ?? executions.at(-1);
  return last === undefined ? {} : { metadata: { toolId: last.toolId, toolExecutions: executions } };
}
