/** Defines an MCP tool: how it appears in `tools/list`, and how it is called. */
import { parseTraceContext } from '../../../shared/net/trace-context.ts';
import { runInTrace } from '../../agents/http/current-trace.ts';
import type { ServerContext } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { APPROVAL_CARD_URI } from '../../approvals/approval-card.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { showsApprovalCards, showsForms } from '../../approvals/tool-call-client.ts';
import { inputSchemaOf, type ListedToolSchema, outlineOutputSchema } from './listed-schema.ts';
import { prefixToolNames } from '../../tool-names/tool-names.ts';
import { answerToolCall, toolFailureResult, invalidArgumentsResult } from './answer-tool-call.ts';
import { parseToolArguments } from './parse-tool-arguments.ts';
import type { BridgeTool, ToolSpec } from './tool.ts';
import type { ToolServingContext } from './tool-serving-context.ts';

/** The maximum length of a result that a client accepts, in characters. */
const MAX_RESULT_CHARACTERS = 400_000;

export function defineBridgeTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
): BridgeTool {
  const { name, title, description, annotations } = spec;
  let inputSchema: ListedToolSchema | undefined;
  return {
    name,
    declaration: spec,
    listed(offer, context) {
      const { server, prefix, approvals, unattended } = offer;
      if (spec.decides === true && approvals === 'human-only') return undefined;
      const cards = hasCard(offer, context);
      if (spec.card === 'uses' && !cards) return undefined;
      // `anthropic/requiresUserInteraction` is set only if a person can answer forms. Otherwise Claude Code would
      // refuse the tool, even if the operator allows it.
      const asksPerson = spec.decides === true && showsForms(server, context, unattended);
      return {
        name: `${prefix}${name}`,
        title,
        description: prefixToolNames(
          typeof description === 'string' ? description : description(approvals),
          prefix,
        ),
        inputSchema: (inputSchema ??= inputSchemaOf(spec.input)),
        outputSchema: outlineOutputSchema(spec.output),
        annotations,
        _meta: {
          'anthropic/maxResultSizeChars': MAX_RESULT_CHARACTERS,
          ...(spec.alwaysLoad === true ? { 'anthropic/alwaysLoad': true } : {}),
          ...(asksPerson ? { 'anthropic/requiresUserInteraction': true } : {}),
          ...(cards && spec.card !== undefined && { ui: CARD_META[spec.card] }),
        },
      };
    },
    async answer({ words, round, context }, offer) {
      if (spec.card === 'uses' && !hasCard(offer, context))
        return toolFailureResult(NO_CARD, { ...offer, name });
      const parsed = parseToolArguments(spec.input, words.arguments);
      if (!parsed.success) return invalidArgumentsResult(words.name, parsed.error);
      const { _meta: meta } = context.mcpReq;
      // SEP-414: a client sends its trace context in `_meta`.
      const trace = parseTraceContext(meta?.['traceparent'], meta?.['tracestate']);
      const call = { input: parsed.data, words, round, context };
      const span = offer.spans?.start(name, trace);
      const answered = runInTrace(span?.trace ?? trace, () => answerToolCall(spec, offer, call));
      if (span === undefined) return answered;
      let outcome: 'ok' | 'error' = 'error';
      try {
        const reply = await answered;
        if (!('isError' in reply) || reply.isError !== true) outcome = 'ok';
        return reply;
      } finally {
        span.end(outcome);
      }
    },
  };
}

const NO_CARD = new ProductError(
  'FORBIDDEN',
  'Only the approval card calls this tool, and this client shows no card. Nothing was sent.',
);

function hasCard({ server, approvals, unattended }: ToolServingContext, context: ServerContext): boolean {
  return approvals !== 'tool-only' && showsApprovalCards(server, context, unattended);
}

/** MCP Apps, `McpUiToolMeta`: the metadata of tools that show the approval card, and of tools that it calls. */
const CARD_META = {
  shows: { resourceUri: APPROVAL_CARD_URI },
  uses: { visibility: ['app'] },
} as const;
