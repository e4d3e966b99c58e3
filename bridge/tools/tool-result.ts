/** The MCP result of a tool's reply, or of its failure. Pure. */
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { Facts, Reason } from '../../shared/errors.ts';
import { type RunningTool, TOOL_EXECUTIONS } from '../results/running-tools.ts';

/** What a tool gives back: the text says all that the structured result says. */
export interface Reply<Output> {
  structured: Output;
  text: string;
  /** The tool executions that run in what the reply is about; absent where it is about none. */
  running?: readonly RunningTool[];
  /** The tool could not do what it was asked to, and its structured result says so. */
  refusal?: { reason: Reason; facts: Facts };
  /** What is answered for now in place of all this: a task, or what a person is asked before the call can go on. */
  interim?: CallToolResult | InputRequiredResult;
}

export function resultOf<Output extends Record<string, unknown>>({
  structured,
  text,
  running,
  refusal,
}: Reply<Output>): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    structuredContent: structured,
    ...(refusal === undefined ? {} : { isError: true }),
    ...(refusal === undefined && running === undefined
      ? {}
      : {
          _meta: {
            ...(refusal === undefined ? {} : errorMeta(refusal)),
            ...(running === undefined ? {} : { [TOOL_EXECUTIONS]: running }),
          },
        }),
    ...metadataOf(running ?? []),
  };
}

/** For programs: what a failure was, beside the sentence. */
export function errorMeta({ reason, facts }: { reason: Reason; facts: Facts }): Record<string, unknown> {
  return { 'mcp-a2a-bridge/error': { reason, facts: { ...facts } } };
}

/** Where clients look that know tool executions and not `_meta`: `metadata.toolId` is the one that started last. */
function metadataOf(running: readonly RunningTool[]): { metadata?: Record<string, unknown> } {
  const last = running.at(-1);
  return last === undefined ? {} : { metadata: { toolId: last.toolId, toolExecutions: running } };
}
