/** Defines MCP tools: how they appear in `tools/list`, and how they are called. */
import { readTraceContext } from '../../../shared/net/trace-context.ts';
import { runInTrace } from '../../agents/http/current-trace.ts';
import type { CallSpans } from '../../telemetry/call-spans.ts';
import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  RequestId,
  ServerContext,
  Tool as ListedTool,
} from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { APPROVAL_CARD_URI } from '../../../shared/protocol/approval-card.ts';
import { issuesText } from '../../../shared/settings/resolve-settings.ts';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { ToolCallEvent } from '../../../shared/protocol/tool-approval.ts';
import { escapeHiddenCharacters } from '../../../shared/text/visible-text.ts';
import {
  type RequestingClient,
  requestingClientOf,
  showsCards,
  showsForms,
} from '../../approvals/requesting-client.ts';
import type { ApprovalMode } from '../../settings/approval-mode.ts';
import type { CallNameAndArguments, FormRound, FormRoundState } from '../../approvals/request-state.ts';
import type { BridgeContext } from '../bridge-context.ts';
import { announceResults } from './announce-results.ts';
import type { SentReplies, OnConfirmed } from '../../sessions/replies-not-confirmed-by-client.ts';
import type { ClientConnection } from '../../sessions/delegating-clients.ts';
import type { ClientFollowedTasks } from '../../sessions/client-followed-tasks.ts';
import type { OnCancel } from '../cancelled-calls/cause.ts';
import { type AwaitedWork, OpenCall } from '../cancelled-calls/open-call.ts';
import type { CancelledCalls } from '../cancelled-calls/cancelled-calls.ts';
import { inputSchemaOf, type ListedSchema, outputSchemaOf } from './listed-schema.ts';
import { startProgress } from './progress.ts';
import type { SeenResults } from './seen-results.ts';
import { errorMeta, type InterimResult, type ToolReply, toCallToolResult } from './tool-result.ts';
import { TOOL_NAMES, type ToolName } from '../../tool-names/tool-names.ts';

export interface ToolCall {
  readonly bridge: BridgeContext;
  /**
   * Aborts when the client cancels the tool call or disconnects. Then the tool stops waiting. E4: a lost connection
   * stops no task.
   */
  readonly signal: AbortSignal;
  /**
   * Throws if the tool call is cancelled. The tool must call this immediately before it sends, and must send nothing if
   * it throws.
   */
  readonly beforeSending: () => void;
  /**
   * Sets the session that the tool call waits for. R48: if the client cancels the tool call, the setting `onCancel`
   * decides whether the session's task continues.
   */
  readonly awaits: (awaited: Omit<AwaitedWork, 'delegations'>) => void;
  /** The connection of the client. With `--on-disconnect`, its tasks end when it is closed. */
  readonly connection: ClientConnection;
  /**
   * Returns sentences about cancelled tool calls that were not reported yet, and clears them. This reply reports them.
   */
  readonly news: () => readonly string[];
  /** Runs `record` when the client has certainly received the reply to this tool call. */
  readonly onConfirmed: (record: OnConfirmed) => void;
  /** Sends the event as a progress notification, if the client requested progress. */
  readonly report: (activity: ToolCallEvent) => void;
  /**
   * Returns the time in milliseconds for which the tool call waits for the task. `waitSeconds` is the argument of the
   * tool call.
   */
  readonly timeout: (waitSeconds: number | undefined) => number;
  /** The client's capabilities, and its answers to forms from earlier rounds of this tool call. */
  readonly client: RequestingClient;
  /** The MCP tasks that the client follows. Undefined if requests do not identify their client. */
  readonly followed: ClientFollowedTasks | undefined;
  /**
   * What the client already has from earlier results, by session. Undefined if requests do not identify their client.
   */
  readonly seen: SeenResults | undefined;
  /** True if the client asks for a complete result, with complete inputs. */
  readonly whole: boolean;
  /**
   * Signs the state of this tool call. The client returns the state when it repeats the tool call with the answers to
   * forms.
   */
  readonly signed: (state: FormRoundState) => Promise<string>;
  readonly name: (tool: ToolName) => string;
}

export interface ToolDeclaration<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> {
  name: ToolName;
  title: string;
  /** The description. The most important sentence comes first, because clients cut the text at 2 KB. */
  description: string | ((approvals: ApprovalMode) => string);
  input: Input;
  output: Output;
  /** MCP's tool annotations. `openWorldHint` is absent, because its default, true, is correct for each tool. */
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
  };
  /**
   * The relation to the approval card. `shows`: a client with MCP Apps shows the card beside the result. `uses`: only
   * the card calls the tool, so other clients do not see it.
   */
  card?: 'shows' | 'uses';
}

interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> extends ToolDeclaration<
  Input,
  Output
> {
  /** True if every client must show this tool to the model, even a client that searches for tools. */
  alwaysLoad?: boolean;
  /**
   * True if the tool sends a person's decision. A client that knows the hint asks the person before it runs the tool.
   */
  decides?: boolean;
  run(
    input: z.output<Input>,
    call: ToolCall,
  ): Promise<ToolReply<z.output<Output>> | { interim: InterimResult }>;
}

export interface ToolOfferContext {
  server: McpServer;
  prefix: string;
  log: Logger;
  onCancel: OnCancel;
  approvals: ApprovalMode;
  unattended: boolean;
  connection: ClientConnection;
  withdrawals: CancelledCalls;
  receipts: SentReplies;
  followed: ClientFollowedTasks | undefined;
  seen: SeenResults | undefined;
  released?: (requestId: RequestId) => void;
  /** Records a span for each tool call. Undefined if traces are switched off. */
  spans: CallSpans | undefined;
  /**
   * Opens the bridge's services when a tool is first called, so that the client's first requests do not wait for this.
   */
  bridge: () => Promise<BridgeContext>;
}

interface IncomingCall {
  words: CallNameAndArguments;
  round: FormRound | undefined;
  context: ServerContext;
}

export interface Tool {
  readonly name: ToolName;
  /** The declaration of the tool, from which the reference in the documentation is generated. */
  readonly declaration: ToolDeclaration;
  /** Returns the entry for `tools/list`. Returns undefined if this client must not see the tool. */
  listed(offer: ToolOfferContext, context: ServerContext): ListedTool | undefined;
  answer(call: IncomingCall, offer: ToolOfferContext): Promise<CallToolResult | InputRequiredResult>;
}

/** The `_meta` key with which a program asks for complete results. */
const WHOLE_RESULT = 'mcp-a2a-bridge/wholeResult';

/** The maximum length of a result that a client accepts, in characters. */
const MAX_RESULT_CHARACTERS = 400_000;

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
): Tool {
  const { name, title, description, annotations } = spec;
  let inputSchema: ListedSchema | undefined;
  return {
    name,
    declaration: spec,
    listed(offer, context) {
      const { server, prefix, approvals, unattended } = offer;
      if (spec.decides === true && approvals === 'human-only') return undefined;
      const cards = hasCard(offer, context);
      if (spec.card === 'uses' && !cards) return undefined;
      // The hint is set only if a person can answer. Without a person, Claude Code refuses a tool with this hint, even
      // if the operator allows the tool.
      const asksPerson = spec.decides === true && showsForms(server, context, unattended);
      return {
        name: `${prefix}${name}`,
        title,
        description: withToolPrefix(
          typeof description === 'string' ? description : description(approvals),
          prefix,
        ),
        inputSchema: (inputSchema ??= inputSchemaOf(spec.input)),
        outputSchema: outputSchemaOf(spec.output),
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
      if (spec.card === 'uses' && !hasCard(offer, context)) return failure(NO_CARD, { ...offer, name });
      const parsed = spec.input.safeParse(words.arguments);
      if (!parsed.success) return unfit(words.name, parsed.error);
      const { _meta: meta } = context.mcpReq;
      // SEP-414: a client sends its trace context in `_meta`.
      const trace = readTraceContext(meta?.['traceparent'], meta?.['tracestate']);
      const call = { input: parsed.data, words, round, context };
      const span = offer.spans?.start(name, trace);
      const answered = runInTrace(span?.trace ?? trace, () => answer(spec, offer, call));
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

function hasCard({ server, approvals, unattended }: ToolOfferContext, context: ServerContext): boolean {
  return approvals !== 'tool-only' && showsCards(server, context, unattended);
}

/** MCP Apps, `McpUiToolMeta`: the metadata for each relation to the card. */
const CARD_META = {
  shows: { resourceUri: APPROVAL_CARD_URI },
  uses: { visibility: ['app'] },
} as const;

async function answer<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
  {
    server,
    prefix,
    log,
    onCancel,
    unattended,
    connection,
    withdrawals,
    receipts,
    followed,
    seen,
    released,
    bridge,
  }: ToolOfferContext,
  { input, words, round, context }: { input: z.output<Input> } & IncomingCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { id: requestId, signal, _meta: meta } = context.mcpReq;
  receipts.confirm();
  const onConfirmed: OnConfirmed[] = [];
  const progress = startProgress(context, spec.title);
  const open = new OpenCall({
    signal,
    requestId,
    tool: spec.name,
    onCancel,
    withdrawals,
    log,
    finalText: (last) => progress.end(last),
  });
  const called = (tool: ToolName): string => `${prefix}${tool}`;
  try {
    const opened = await bridge();
    const looked = opened.inbox.look();
    const reply = await spec.run(input, {
      bridge: opened,
      timeout: (seconds) =>
        waitTimeMs(seconds ?? opened.defaults.waitSeconds, meta?.progressToken !== undefined),
      signal,
      connection,
      onConfirmed: (record) => onConfirmed.push(record),
      report: progress.report,
      name: called,
      client: requestingClientOf(server, context, { round, unattended }),
      followed,
      seen,
      whole: meta?.[WHOLE_RESULT] === true,
      signed: (state) => opened.requestStates.sign(state, words),
      beforeSending: () => open.beforeSending(),
      awaits: (awaited) => {
        progress.about(awaited.session);
        open.awaits({ ...awaited, delegations: opened.delegations });
      },
      // No client reads the reply to a cancelled tool call. So this reply must not use up the unreported sentences.
      news: () => (open.withdrawn ? [] : withdrawals.take(called)),
    });
    if (!('structured' in reply)) return reply.interim;
    if (reply.interim !== undefined) return reply.interim;
    // No client reads the reply to a cancelled tool call. So this reply must not use up the announcements.
    await looked;
    return toCallToolResult(
      open.withdrawn ? reply : announceResults(reply, await opened.inbox.take(), called),
    );
  } catch (error) {
    if (open.withdrawn) log.debug({ requestId, tool: spec.name, err: error }, 'a cancelled call failed');
    return failure(error, { prefix, name: spec.name, log: open.withdrawn ? undefined : log });
  } finally {
    await progress.end();
    // The SDK writes this reply before it reads the next request.
    if (open.withdrawn) released?.(requestId);
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
export function waitTimeMs(seconds: number | undefined, progress: boolean): number {
  return (seconds ?? (progress ? WAIT_SECONDS.withProgress : WAIT_SECONDS.without)) * 1000;
}

/**
 * Returns the result for invalid arguments. MCP 2025-11-25, tools: such errors are results, so that the model can
 * correct them.
 */
function unfit(name: string, error: z.ZodError): CallToolResult {
  const text = `Input validation error: Invalid arguments for tool ${name}: ${issuesText(error)}`;
  return { content: [{ type: 'text', text }], isError: true };
}

/**
 * Returns the result for an error. B4: a tool failure is a result with `isError`. Its text tells the model what to do
 * next.
 */
function failure(
  error: unknown,
  { prefix, name, log }: { prefix: string; name: ToolName; log: Logger | undefined },
): CallToolResult {
  const known = error instanceof ProductError;
  if (!known) log?.error({ tool: name, err: error }, 'a tool failed with an unexpected error');
  const sentence = known
    ? error.message
    : `The bridge met an error it did not expect (${messageOf(error)}). Its log on stderr says more; try again.`;
  return {
    content: [{ type: 'text', text: escapeHiddenCharacters(withToolPrefix(sentence, prefix)) }],
    isError: true,
    // A failure has no structured content, because clients would validate it against the output schema.
    _meta: known ? errorMeta(error) : {},
  };
}

const NAMES = new RegExp(`\\b(?:${TOOL_NAMES.join('|')})\\b`, 'g');

export function withToolPrefix(text: string, prefix: string): string {
  return prefix === '' ? text : text.replaceAll(NAMES, (name) => `${prefix}${name}`);
}
