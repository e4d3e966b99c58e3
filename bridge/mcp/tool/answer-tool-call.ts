/** Answers one call of a tool. */
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { zodIssuesText } from '../../../shared/text/input-problem.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { isProgramFileMissing } from '../../../shared/runtime/missing-program-file.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { escapeHiddenCharacters } from '../../../shared/text/visible-text.ts';
import { toolCallClientOf } from '../../approvals/tool-call-client.ts';
import { addNotices, announceResults } from './add-announcements.ts';
import type { OnReplyConfirmed } from '../../sessions/replies-not-confirmed-by-client.ts';
import { OpenMcpCall } from '../cancelled-calls/open-call.ts';
import { startProgress } from './progress.ts';
import { errorMeta, toCallToolResult } from './tool-result.ts';
import { type ToolName, prefixToolNames } from '../../tool-names/tool-names.ts';
import type { IncomingCall, ToolSpec } from './tool.ts';
import type { ToolServingContext } from './tool-serving-context.ts';

/** The `_meta` key with which a program asks for complete results. */
const WHOLE_RESULT = 'mcp-a2a-bridge/wholeResult';

/** Runs a tool, and builds the reply. A failure of the tool is a result, too. */
export async function answerToolCall<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
  serving: ToolServingContext,
  { input, words, round, context }: { input: z.output<Input> } & IncomingCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { log, withdrawals, receipts, connection, followed, seen } = serving;
  const { id: requestId, signal, _meta: meta } = context.mcpReq;
  receipts.confirm();
  const onConfirmed: OnReplyConfirmed[] = [];
  const progress = startProgress(context, spec.title);
  const open = new OpenMcpCall({
    signal,
    requestId,
    tool: spec.name,
    onCancel: serving.onCancel,
    withdrawals,
    log,
    finalText: (last) => progress.end(last),
  });
  const called = (tool: ToolName): string => `${serving.prefix}${tool}`;
  try {
    const opened = await serving.bridge();
    const looked = opened.inbox.refresh();
    const reply = await spec.run(input, {
      bridge: opened,
      waitMs: (seconds) =>
        toolCallWaitMs(seconds ?? opened.defaults.waitSeconds, meta?.progressToken !== undefined),
      signal,
      connection,
      onConfirmed: (record) => onConfirmed.push(record),
      report: progress.report,
      name: called,
      client: toolCallClientOf(serving.server, context, { round, unattended: serving.unattended }),
      followed,
      seen,
      whole: meta?.[WHOLE_RESULT] === true,
      signed: (state) => opened.requestStates.sign(state, words),
      beforeSending: () => open.beforeSending(),
      awaits: (awaited) => {
        progress.about(awaited.session);
        open.awaits({ ...awaited, delegations: opened.delegations });
      },
      // No client reads the reply to a cancelled tool call. So the sentences about cancelled tool calls stay for a
      // later reply.
      news: () => (open.withdrawn ? [] : withdrawals.take(called)),
    });
    if ('interim' in reply) return reply.interim;
    // No client reads the reply to a cancelled tool call. So the announcements of results stay for a later reply.
    await looked;
    if (open.withdrawn) return toCallToolResult(reply);
    const announced = announceResults(reply, await opened.inbox.take(), called);
    const notices = opened.registry.all.flatMap((agent) => agent.takeNotices());
    return toCallToolResult(addNotices(announced, notices));
  } catch (error) {
    if (open.withdrawn) log.debug({ requestId, tool: spec.name, err: error }, 'a cancelled call failed');
    const { prefix } = serving;
    return toolFailureResult(error, { prefix, name: spec.name, log: open.withdrawn ? undefined : log });
  } finally {
    await progress.end();
    // The reply counts as sent before it is written. That is correct, because the SDK writes the reply before it reads
    // the next request. Only that request confirms the reply.
    if (open.withdrawn) serving.released?.(requestId);
    else receipts.sent(requestId, onConfirmed);
    open.end();
  }
}

/**
 * The default wait in seconds. Without progress, clients abandon a tool call after 60 s, which is the SDK's default.
 * With progress, they wait longer.
 */
const WAIT_SECONDS = { withProgress: 100, without: 50 };

/**
 * Returns the time for which a tool call waits, in milliseconds.
 * @param seconds the value in the tool call or in the settings; undefined if neither has one
 */
export function toolCallWaitMs(seconds: number | undefined, progress: boolean): number {
  return (seconds ?? (progress ? WAIT_SECONDS.withProgress : WAIT_SECONDS.without)) * 1000;
}

/**
 * Returns the result for invalid arguments. MCP 2025-11-25, tools: such errors are results, so that the model can
 * correct them.
 */
export function invalidArgumentsResult(name: string, error: z.ZodError): CallToolResult {
  const text = `Input validation error: Invalid arguments for tool ${name}: ${zodIssuesText(error)}`;
  return { content: [{ type: 'text', text }], isError: true };
}

/**
 * Returns the result for an error. B4: a tool failure is a result with `isError`. Its text tells the model what to do
 * next.
 */
export function toolFailureResult(
  error: unknown,
  { prefix, name, log }: { prefix: string; name: ToolName; log: Logger | undefined },
): CallToolResult {
  const known = error instanceof ProductError;
  if (!known) log?.error({ tool: name, err: error }, 'a tool failed with an unexpected error');
  const sentence = known ? error.message : unexpectedErrorText(error);
  return {
    content: [{ type: 'text', text: escapeHiddenCharacters(prefixToolNames(sentence, prefix)) }],
    isError: true,
    // A failure has no structured content, because clients would validate it against the output schema.
    _meta: known ? errorMeta(error) : {},
  };
}

function unexpectedErrorText(error: unknown): string {
  return isProgramFileMissing(error)
    ? `The files of the bridge were replaced or deleted while it ran, perhaps by an upgrade (${errorMessageOf(error)}). Restart the bridge in your client, for example by a restart of the client. Tasks go on.`
    : `The bridge met an error it did not expect (${errorMessageOf(error)}). Its log on stderr says more; try again.`;
}
