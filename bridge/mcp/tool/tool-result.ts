/** The MCP result of a tool's reply, or of its failure. Pure. */
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { Facts, Reason } from '../../../shared/runtime/errors.ts';
import { withoutHidden } from '../../../shared/text/visible-text.ts';
import { type ToolExecution, TOOL_EXECUTIONS } from '../reports/tool-executions.ts';

/** What is answered for now: a task, or what a person is asked before the call can go on. */
export type Interim = CallToolResult | InputRequiredResult;

/** What a tool gives back: the text says all that the structured result says. */
export interface Reply<Output> {
  structured: Output;
  text: string;
  /** The tool executions of the task the reply is about; absent where it is about none. */
  executions?: readonly ToolExecution[];
  /** The tool could not do what it was asked to, and its structured result says so. */
  refusal?: { reason: Reason; facts: Facts };
  /** Answered in place of all this. */
  interim?: Interim;
}

export function resultOf<Output extends Record<string, unknown>>({
  structured,
  text,
  executions,
  refusal,
}: Reply<Output>): CallToolResult {
  return {
    content: [{ type: 'text', text: withoutHidden(text) }],
    structuredContent: Object.fromEntries(Object.entries(structured).map(visibleEntry)),
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

/** What a client sends back as it came, and what it edits. */
const EXACT: ReadonlySet<string> = new Set(['callId', 'sessionId', 'taskId', 'toolId', 'input']);

/** Whatever a tool puts into its result, nothing hidden is in it. */
function visibleEntry([key, value]: [string, unknown]): [string, unknown] {
  return [key, EXACT.has(key) ? value : visibleValue(value)];
}

function visibleValue(value: unknown): unknown {
  if (typeof value === 'string') return withoutHidden(value);
  if (Array.isArray(value)) return value.map(visibleValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(visibleEntry));
}

/** For programs: what a failure was, beside the sentence. */
export function errorMeta({ reason, facts }: { reason: Reason; facts: Facts }): Record<string, unknown> {
  return { 'mcp-a2a-bridge/error': { reason, facts: { ...facts } } };
}

/** Where clients look that know tool executions and not `_meta`: `metadata.toolId` is the last that runs, or has run. */
function metadataOf(executions: readonly ToolExecution[]): { metadata?: Record<string, unknown> } {
  const last = executions.findLast(({ state }) => state === 'running') ?? executions.at(-1);
  return last === undefined ? {} : { metadata: { toolId: last.toolId, toolExecutions: executions } };
}
