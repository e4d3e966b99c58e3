import { stringify } from 'safe-stable-stringify';
import { sha256 } from '../../shared/runtime/sha256.ts';
import { MiddleCutText, cutMiddle } from '../../shared/text/shortened-text.ts';
import { defineTool } from '../tools/builtin/define-tool.ts';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';
import { ToolStoppedError, type Tool } from '../tools/tool.ts';
import { mcpResultForModel, type McpServerToolResult } from './call-result.ts';
import type { McpCallContext } from './call-until-answered.ts';
import type { McpToolDefinition } from './tool-list.ts';
import { mcpToolName } from './tool-name.ts';

/** The maximum length of a result for the model, in characters. The journal stores the whole result. */
const MAX_TEXT_CHARS = 30_000;
const MAX_PROGRESS_CHARS = 8 * 1024;

interface McpToolOptions {
  server: string;
  definition: McpToolDefinition;
  trustHints: boolean;
  timeoutMs: number;
  call: (
    input: Record<string, unknown>,
    run: Omit<McpCallContext, 'repeatable' | 'idleMs'>,
  ) => Promise<McpServerToolResult>;
}

export function createMcpTool({ server, definition, trustHints, timeoutMs, call }: McpToolOptions): Tool {
  const { name, description, hints, schema, declared } = definition;
  const readOnly = trustHints && hints.readOnly;
  const basis = definitionHash(definition);
  return defineTool({
    name: mcpToolName(server, name),
    description,
    source: { type: 'mcp-server', server },
    sideEffect: readOnly ? 'none' : 'other',
    repeatable: trustHints && hints.idempotent,
    schema,
    inputSchema: declared,
    timeoutMs: () => timeoutMs,
    maxResultChars: MAX_TEXT_CHARS,
    title: () => `Call ${oneLineExcerpt(name, 60)} of the MCP server ${server}`,
    // D2: the basis is a hash of the tool's definition. After a change of the definition, the person must approve
    // again.
    show: (input) => Promise.resolve({ preview: { type: 'json', value: input }, basis }),
    run: async (input, run) => {
      const { signal, ask, principal, toolId, stopCause, requireClaim } = run;
      const said = new MiddleCutText(MAX_PROGRESS_CHARS);
      const output: typeof run.output = (text, progress) => {
        said.push(text);
        run.output(text, progress);
      };
      const answeredLate = (late: McpServerToolResult): void =>
        run.answeredLate(mcpResultForModel(late).text);
      const context = { signal, output, ask, principal, toolId, stopCause, requireClaim, answeredLate };
      const result = await call(input, context).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        // MCP has no response to `notifications/cancelled`. A tool with side effects may therefore have finished.
        throw new ToolStoppedError(
          'MCP servers do not confirm a cancelled request: the server may have finished it.',
          {
            text: String(said),
            confirmed: readOnly,
          },
        );
      });
      const { text, files } = mcpResultForModel(result);
      // B4: the model gets the errors that MCP calls "Tool Execution Errors".
      if (result.isError) throw new Error(cutMiddle(text, MAX_TEXT_CHARS));
      return {
        text,
        summary: `${server}: ${oneLineExcerpt(name, 60)} answered`,
        ...(files.length > 0 && { files }),
      };
    },
  });
}

function definitionHash({ name, description, declared, hints }: McpToolDefinition): string {
  return sha256(stringify({ name, description, declared, hints }) ?? '');
}
