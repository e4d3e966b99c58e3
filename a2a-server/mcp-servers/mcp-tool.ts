/** A tool of an MCP server as one of the agent's own. */
import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import { CappedText } from '../tools/capped-text.ts';
import { defineTool } from '../tools/define-tool.ts';
import { oneLine } from '../tools/one-line.ts';
import { ToolStopped, type Tool } from '../tools/tool.ts';
import { resultText, type CallResult } from './call-result.ts';
import type { CallRun } from './call-until-answered.ts';
import type { ToolDefinition } from './tool-list.ts';
import { toolName } from './tool-name.ts';

/** Characters of its progress that the record of a stopped call keeps. */
const MAX_PROGRESS = 8 * 1024;

export interface McpToolOptions {
  server: string;
  definition: ToolDefinition;
  /** Whether what the server says of its tools is believed. */
  trustHints: boolean;
  /** In milliseconds. */
  timeoutMs: number;
  call: (input: Record<string, unknown>, run: Omit<CallRun, 'repeatable'>) => Promise<CallResult>;
}

export function createMcpTool({ server, definition, trustHints, timeoutMs, call }: McpToolOptions): Tool {
  const { name, description, hints, schema, declared } = definition;
  const readOnly = trustHints && hints.readOnly;
  const basis = definitionHash(definition);
  return defineTool({
    name: toolName(server, name),
    description,
    source: { type: 'mcp-server', server },
    sideEffect: readOnly ? 'none' : 'other',
    repeatable: trustHints && hints.idempotent,
    schema,
    inputSchema: declared,
    timeoutMs: () => timeoutMs,
    title: () => `Call ${oneLine(name, 60)} of the MCP server ${server}`,
    // D2 What was approved is a call of the tool as it was then: one that has been redefined since is asked again.
    show: (input) =>
      Promise.resolve({ preview: { type: 'json', value: { server, tool: name, arguments: input } }, basis }),
    run: async (input, run) => {
      const { signal, ask } = run;
      const said = new CappedText(MAX_PROGRESS);
      const output = (text: string): void => {
        said.push(text);
        run.output(text);
      };
      const result = await call(input, { signal, output, ask }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        // MCP has no answer to `notifications/cancelled`: what has side effects may have had them.
        throw new ToolStopped('The server was told to stop.', { text: String(said), confirmed: readOnly });
      });
      const text = resultText(result);
      // B4 in the words of MCP: "Tool Execution Errors" are for the model to see.
      if (result.isError) throw new Error(text);
      return { text, summary: `${server}: ${oneLine(name, 60)} answered` };
    },
  });
}

function definitionHash({ name, description, declared, hints }: ToolDefinition): string {
  return createHash('sha256')
    .update(stringify({ name, description, declared, hints }) ?? '')
    .digest('hex');
}
