/** What an MCP tool of the bridge is, and how it is offered to a client. */
import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  RequestId,
  ServerContext,
  Tool as ListedTool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { issuesOf } from '../../../shared/settings/config.ts';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { Activity } from '../../../shared/protocol/tool-approval.ts';
import { withoutHidden } from '../../../shared/text/visible-text.ts';
import { type Client, clientOf, showsForms } from '../../approvals/client.ts';
import type { Approvals } from '../../settings/approval-mode.ts';
import type { CallWords, Round, RoundState } from '../../approvals/request-state.ts';
import type { Bridge } from '../bridge-context.ts';
import { announceResults } from './announce-results.ts';
import type { AnswerReceipts, OnReceipt } from '../../sessions/answer-receipts.ts';
import { withWaitingResults } from '../../inbox/announcement.ts';
import type { FollowedTasks } from '../../sessions/followed-tasks.ts';
import type { OnCancel } from '../cancelled-calls/cause.ts';
import { type AwaitedWork, OpenCall } from '../cancelled-calls/open-call.ts';
import type { CancelledCalls } from '../cancelled-calls/cancelled-calls.ts';
import { startProgress } from './progress.ts';
import { errorMeta, type Interim, type Reply, resultOf } from './tool-result.ts';
import { TOOL_NAMES, type ToolName } from '../../tool-names/tool-name.ts';

/** One call of a tool. */
export interface ToolCall {
  readonly bridge: Bridge;
  /** Aborts when the client withdraws the call, or goes: it ends the waiting, and stops nothing (E4). */
  readonly signal: AbortSignal;
  /** To be asked right before something is sent. @throws when the call has been withdrawn: nothing is to be sent then */
  readonly beforeSending: () => void;
  /** The call waits from here on: what becomes of this, should it be withdrawn, is the setting's (R48). */
  readonly awaits: (awaited: Omit<AwaitedWork, 'delegations'>) => void;
  /** What the client has not been told yet of calls it withdrew; told with this answer. */
  readonly news: () => readonly string[];
  /** Records something when the client is known to have the answer of this call. */
  readonly onReceipt: (record: OnReceipt) => void;
  /** Tells a client that asked for progress what has just happened. */
  readonly report: (activity: Activity) => void;
  /** How long to wait for the task, in milliseconds, of what the call says in seconds. */
  readonly timeout: (waitSeconds: number | undefined) => number;
  /** What the client can do, and its answers where it has been asked before in this call. */
  readonly client: Client;
  /** The tasks that the client follows already; undefined where requests do not say which client they are of. */
  readonly followed: FollowedTasks | undefined;
  /** The state with which the client makes this very call again, with what its person has answered. */
  readonly signed: (state: RoundState) => Promise<string>;
  /** A tool's name as this client sees it. */
  readonly name: (tool: ToolName) => string;
}

export interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: ToolName;
  title: string;
  /** The important first: clients cut at 2 KB. */
  description: string | ((approvals: Approvals) => string);
  input: Input;
  output: Output;
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
  /** Keeps the tool in the model's view in clients that hide tools behind a search. */
  alwaysLoad?: boolean;
  /** It decides for the person: clients that know the hint ask them before it runs. */
  decides?: boolean;
  run(input: z.output<Input>, call: ToolCall): Promise<Reply<z.output<Output>> | { interim: Interim }>;
}

/** What offering a tool needs from outside. */
export interface Offer {
  server: McpServer;
  prefix: string;
  log: Logger;
  onCancel: OnCancel;
  approvals: Approvals;
  unattended: boolean;
  withdrawals: CancelledCalls;
  receipts: AnswerReceipts;
  followed: FollowedTasks | undefined;
  released?: (requestId: RequestId) => void;
  /** Opened by the first call that needs it, so that the first MCP answers do not wait. */
  bridge: () => Promise<Bridge>;
}

/** A call as it comes in. */
export interface IncomingCall {
  words: CallWords;
  round: Round | undefined;
  context: ServerContext;
}

export interface Tool {
  readonly name: ToolName;
  /** As `tools/list` shows it to a client; undefined where the client is not offered it. */
  listed(offer: Offer, context: ServerContext): ListedTool | undefined;
  answer(call: IncomingCall, offer: Offer): Promise<CallToolResult | InputRequiredResult>;
}

/** The most a result may have before a client cuts it, in characters. */
const MAX_RESULT = 400_000;

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
): Tool {
  const { name, title, description, annotations } = spec;
  let inputSchema: ListedTool['inputSchema'] | undefined;
  let outputSchema: ListedTool['inputSchema'] | undefined;
  return {
    name,
    listed({ server, prefix, approvals, unattended }, context) {
      if (spec.decides === true && approvals === 'human-only') return undefined;
      // Claude Code refuses a tool with this hint where no person is there, even when its operator allows the tool.
      const asksPerson = spec.decides === true && showsForms(server, context, unattended);
      return {
        name: `${prefix}${name}`,
        title,
        description: prefixed(typeof description === 'string' ? description : description(approvals), prefix),
        inputSchema: (inputSchema ??= jsonSchema(spec.input, 'input')),
        outputSchema: (outputSchema ??= jsonSchema(withWaitingResults(spec.output), 'output')),
        annotations: { title, ...annotations },
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
  { server, prefix, log, onCancel, unattended, withdrawals, receipts, followed, released, bridge }: Offer,
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
      onReceipt: (record) => onReceipt.push(record),
      report: progress.report,
      name: called,
      client: clientOf(server, context, { round, unattended }),
      followed,
      signed: (state) => opened.requestStates.sign(state, words),
      beforeSending: () => open.beforeSending(),
      awaits: (awaited) => {
        progress.about(awaited.session);
        open.awaits({ ...awaited, delegations: opened.delegations });
      },
      // An answer to a withdrawn call reaches nobody: it must not use the news up.
      news: () => (open.withdrawn ? [] : withdrawals.take(called)),
    });
    if (!('structured' in reply)) return reply.interim;
    if (reply.interim !== undefined) return reply.interim;
    // An answer to a withdrawn call reaches nobody: it must not use the announcements up.
    await looked;
    return resultOf(open.withdrawn ? reply : announceResults(reply, await opened.inbox.take(), called));
  } catch (error) {
    if (open.withdrawn) log.debug({ requestId, tool: spec.name, err: error }, 'a withdrawn call failed');
    return failure(error, { prefix, name: spec.name, log: open.withdrawn ? undefined : log });
  } finally {
    await progress.end();
    // The SDK writes the answer before it reads the next call.
    if (open.withdrawn) released?.(requestId);
    else receipts.sent(onReceipt);
    open.end();
  }
}

/** Clients that get no progress give up on a call after 60 s, the default of their SDK; progress keeps others waiting. */
const WAIT_SECONDS = { withProgress: 100, without: 50 };

/** @param seconds what the call or the settings say; undefined when neither does */
export function waitMs(seconds: number | undefined, progress: boolean): number {
  return (seconds ?? (progress ? WAIT_SECONDS.withProgress : WAIT_SECONDS.without)) * 1000;
}

/** MCP 2025-11-25, tools: without `$schema` a schema is of JSON Schema 2020-12. */
function jsonSchema(schema: z.ZodObject, io: 'input' | 'output'): ListedTool['inputSchema'] {
  return z.custom<ListedTool['inputSchema']>().parse(z.toJSONSchema(schema, { target: 'draft-2020-12', io }));
}

/** MCP 2025-11-25, tools: errors in a call's arguments are results, so that the model can correct itself. */
function unfit(name: string, error: z.ZodError): CallToolResult {
  const text = `Input validation error: Invalid arguments for tool ${name}: ${issuesOf(error)}`;
  return { content: [{ type: 'text', text }], isError: true };
}

/** B4: a failure of a tool is a result, with a sentence that says what to do next. */
function failure(
  error: unknown,
  { prefix, name, log }: { prefix: string; name: ToolName; log: Logger | undefined },
): CallToolResult {
  const known = error instanceof ProductError;
  if (!known) log?.error({ tool: name, err: error }, 'a tool failed in a way nobody foresaw');
  const sentence = known
    ? error.message
    : `The bridge met an error it did not expect (${messageOf(error)}). Its log on stderr says more; try again.`;
  return {
    content: [{ type: 'text', text: withoutHidden(prefixed(sentence, prefix)) }],
    isError: true,
    // No structured content: clients check it against the output schema, which a failure does not fit.
    _meta: known ? errorMeta(error) : {},
  };
}

const NAMES = new RegExp(`\\b(?:${TOOL_NAMES.join('|')})\\b`, 'g');

/** The bridge's own words with the tools' names as the client knows them. */
export function prefixed(text: string, prefix: string): string {
  return prefix === '' ? text : text.replaceAll(NAMES, (name) => `${prefix}${name}`);
}
