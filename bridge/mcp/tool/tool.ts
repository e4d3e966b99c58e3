/** Defines an MCP tool of the bridge: how it is listed and how it answers a call. */
import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  RequestId,
  ServerContext,
  Tool as ListedTool,
} from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { issuesText } from '../../../shared/settings/config.ts';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { Activity } from '../../../shared/protocol/tool-approval.ts';
import { withoutHidden } from '../../../shared/text/visible-text.ts';
import { type Client, clientOf, showsForms } from '../../approvals/client.ts';
import type { Approvals } from '../../settings/approval-mode.ts';
import type { CallWords, Round, RoundState } from '../../approvals/request-state.ts';
import type { Bridge } from '../bridge-context.ts';
import { announceResults } from './announce-results.ts';
import type { SentAnswers, OnReceipt } from '../../sessions/unconfirmed-answers.ts';
import type { ClientConnection } from '../../sessions/client-tasks.ts';
import type { FollowedTasks } from '../../sessions/followed-tasks.ts';
import type { OnCancel } from '../cancelled-calls/cause.ts';
import { type AwaitedWork, OpenCall } from '../cancelled-calls/open-call.ts';
import type { CancelledCalls } from '../cancelled-calls/cancelled-calls.ts';
import { inputSchemaOf, type ListedSchema, outputSchemaOf } from './listed-schema.ts';
import { startProgress } from './progress.ts';
import type { SeenResults } from './seen-results.ts';
import { errorMeta, type InterimResult, type ToolReply, toCallToolResult } from './tool-result.ts';
import { TOOL_NAMES, type ToolName } from '../../tool-names/tool-name.ts';

/** One call of a tool. */
export interface ToolCall {
  readonly bridge: Bridge;
  /**
   * Aborts when the client cancels the call or disconnects. The abort ends the wait. It does not stop the task (E4).
   */
  readonly signal: AbortSignal;
  /** Call this right before you send. @throws when the call is cancelled; the tool must then send nothing */
  readonly beforeSending: () => void;
  /**
   * Sets the session that the call waits for. If the client cancels the call, the setting `onCancel` decides whether
   * the session's task continues (R48).
   */
  readonly awaits: (awaited: Omit<AwaitedWork, 'delegations'>) => void;
  /** The client's connection: its tasks may end with it. */
  readonly connection: ClientConnection;
  /**
   * Takes the outcomes of cancelled calls that no answer to this client has reported. This call's answer reports them.
   */
  readonly news: () => readonly string[];
  /** Runs `record` as soon as it is certain that the client has this call's answer. */
  readonly onReceipt: (record: OnReceipt) => void;
  /** Sends an event as progress, if the client asked for progress. */
  readonly report: (activity: Activity) => void;
  /** Returns how long to wait for the task, in milliseconds. `waitSeconds` is the call's own value, in seconds. */
  readonly timeout: (waitSeconds: number | undefined) => number;
  /** The capabilities of the client, and its answers to the forms of earlier rounds of this call. */
  readonly client: Client;
  /** The tasks that the client follows. Undefined if requests do not identify their client. */
  readonly followed: FollowedTasks | undefined;
  /** The results that the client already has, by session. Undefined if requests do not identify their client. */
  readonly seen: SeenResults | undefined;
  /** True if the result must be complete, with whole inputs. */
  readonly whole: boolean;
  /** Signs the state of this call. The client returns this state when it repeats the call with the person's answers. */
  readonly signed: (state: RoundState) => Promise<string>;
  /** A tool's name as this client sees it. */
  readonly name: (tool: ToolName) => string;
}

interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: ToolName;
  title: string;
  /** The important part comes first, because clients cut the text at 2 KB. */
  description: string | ((approvals: Approvals) => string);
  input: Input;
  output: Output;
  /** `openWorldHint` is absent: MCP's default, true, is correct for each tool. */
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
  };
  /** True if clients that hide tools behind a search must always show this tool to the model. */
  alwaysLoad?: boolean;
  /**
   * True if the tool sends a person's decision. A client that supports this hint asks its person before the tool runs.
   */
  decides?: boolean;
  run(
    input: z.output<Input>,
    call: ToolCall,
  ): Promise<ToolReply<z.output<Output>> | { interim: InterimResult }>;
}

/** The parts that a tool needs from the server. */
export interface ToolServer {
  server: McpServer;
  prefix: string;
  log: Logger;
  onCancel: OnCancel;
  approvals: Approvals;
  unattended: boolean;
  connection: ClientConnection;
  withdrawals: CancelledCalls;
  receipts: SentAnswers;
  followed: FollowedTasks | undefined;
  seen: SeenResults | undefined;
  released?: (requestId: RequestId) => void;
  /** Opens the bridge at the first call that needs it. So the client's first requests do not wait for the bridge. */
  bridge: () => Promise<Bridge>;
}

/** A tool call as the server receives it. */
interface IncomingCall {
  words: CallWords;
  round: Round | undefined;
  context: ServerContext;
}

export interface Tool {
  readonly name: ToolName;
  /** The tool's entry in `tools/list`. Undefined if this client must not see the tool. */
  listed(offer: ToolServer, context: ServerContext): ListedTool | undefined;
  answer(call: IncomingCall, offer: ToolServer): Promise<CallToolResult | InputRequiredResult>;
}

/** The `_meta` key with which a program requests complete results each time. */
const WHOLE_RESULT = 'mcp-a2a-bridge/wholeResult';

/** The maximum number of characters that a client accepts in a result. */
const MAX_RESULT = 400_000;

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
): Tool {
  const { name, title, description, annotations } = spec;
  let inputSchema: ListedSchema | undefined;
  return {
    name,
    listed({ server, prefix, approvals, unattended }, context) {
      if (spec.decides === true && approvals === 'human-only') return undefined;
      // Claude Code refuses a tool with this hint if it runs without a person, even if the operator allows the tool.
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
          'anthropic/maxResultSizeChars': MAX_RESULT,
          ...(spec.alwaysLoad === true ? { 'anthropic/alwaysLoad': true } : {}),
          ...(asksPerson ? { 'anthropic/requiresUserInteraction': true } : {}),
        },
      };
    },
    async answer({ words, round, context }, offer) {
      const parsed = spec.input.safeParse(words.arguments);
      return parsed.success
        ? answer(spec, offer, { input: parsed.data, words, round, context })
        : unfit(words.name, parsed.error);
    },
  };
}

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
  }: ToolServer,
  { input, words, round, context }: { input: z.output<Input> } & IncomingCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { id: requestId, signal, _meta: meta } = context.mcpReq;
  receipts.confirm();
  const onReceipt: OnReceipt[] = [];
  const progress = startProgress(context, spec.title);
  const open = new OpenCall({
    signal,
    requestId,
    tool: spec.name,
    onCancel,
    withdrawals,
    log,
    lastWords: (last) => progress.end(last),
  });
  const called = (tool: ToolName): string => `${prefix}${tool}`;
  try {
    const opened = await bridge();
    const looked = opened.inbox.look();
    const reply = await spec.run(input, {
      bridge: opened,
      timeout: (seconds) => waitMs(seconds ?? opened.defaults.waitSeconds, meta?.progressToken !== undefined),
      signal,
      connection,
      onReceipt: (record) => onReceipt.push(record),
      report: progress.report,
      name: called,
      client: clientOf(server, context, { round, unattended }),
      followed,
      seen,
      whole: meta?.[WHOLE_RESULT] === true,
      signed: (state) => opened.requestStates.sign(state, words),
      beforeSending: () => open.beforeSending(),
      awaits: (awaited) => {
        progress.about(awaited.session);
        open.awaits({ ...awaited, delegations: opened.delegations });
      },
      // No client reads the answer to a cancelled call. So this answer must not consume the news.
      news: () => (open.withdrawn ? [] : withdrawals.take(called)),
    });
    if (!('structured' in reply)) return reply.interim;
    if (reply.interim !== undefined) return reply.interim;
    // No client reads the answer to a cancelled call. So this answer must not consume the announcements.
    await looked;
    return toCallToolResult(
      open.withdrawn ? reply : announceResults(reply, await opened.inbox.take(), called),
    );
  } catch (error) {
    if (open.withdrawn) log.debug({ requestId, tool: spec.name, err: error }, 'a cancelled call failed');
    return failure(error, { prefix, name: spec.name, log: open.withdrawn ? undefined : log });
  } finally {
    await progress.end();
    // The SDK writes the answer before it reads the next call.
    if (open.withdrawn) released?.(requestId);
    else receipts.sent(requestId, onReceipt);
    open.end();
  }
}

/** Without progress, clients give up on a call after 60 s, the SDK's default. With progress they wait longer. */
const WAIT_SECONDS = { withProgress: 100, without: 50 };

/**
 * How long a call waits, in milliseconds.
 * @param seconds from the call or the settings; undefined if neither has a value
 */
export function waitMs(seconds: number | undefined, progress: boolean): number {
  return (seconds ?? (progress ? WAIT_SECONDS.withProgress : WAIT_SECONDS.without)) * 1000;
}

/** MCP 2025-11-25, tools: errors in a call's arguments are results, so that the model can correct itself. */
function unfit(name: string, error: z.ZodError): CallToolResult {
  const text = `Input validation error: Invalid arguments for tool ${name}: ${issuesText(error)}`;
  return { content: [{ type: 'text', text }], isError: true };
}

/** B4: the failure of a tool is a result. Its text tells the model what to do next. */
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
    content: [{ type: 'text', text: withoutHidden(withToolPrefix(sentence, prefix)) }],
    isError: true,
    // A failure has no structured content. Clients would check it against the output schema, which it does not match.
    _meta: known ? errorMeta(error) : {},
  };
}

const NAMES = new RegExp(`\\b(?:${TOOL_NAMES.join('|')})\\b`, 'g');

/** Adds the prefix to the tools' names in the bridge's own text. */
export function withToolPrefix(text: string, prefix: string): string {
  return prefix === '' ? text : text.replaceAll(NAMES, (name) => `${prefix}${name}`);
}
