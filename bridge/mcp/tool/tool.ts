/** What a tool of the MCP server declares, and what it gets when a client calls it. */
import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  Tool as ListedTool,
} from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { ToolCallEvent } from '../../../shared/protocol/tool-approval.ts';
import type { ToolCallClient } from '../../approvals/tool-call-client.ts';
import type { ApprovalMode } from '../../settings/approval-mode.ts';
import type {
  CallNameAndArguments,
  AnsweredFormRound,
  FormRoundState,
} from '../../approvals/request-state.ts';
import type { BridgeContext } from '../bridge-context.ts';
import type { OnReplyConfirmed } from '../../sessions/replies-not-confirmed-by-client.ts';
import type { ClientConnection } from '../../sessions/delegating-clients.ts';
import type { ClientFollowedTasks } from '../../sessions/client-followed-tasks.ts';
import type { AwaitedWork } from '../cancelled-calls/open-call.ts';
import type { SeenResults } from './seen-results.ts';
import type { ToolAnswer } from './tool-result.ts';
import type { ToolServingContext } from './tool-serving-context.ts';
import type { ToolName, NameOfTool } from '../../tool-names/tool-names.ts';

export interface ToolCallContext {
  readonly bridge: BridgeContext;
  /**
   * Aborts when the client cancels the tool call or disconnects. Then the tool stops waiting. E4: a lost connection
   * stops no task.
   */
  readonly signal: AbortSignal;
  /**
   * Throws if the tool call is cancelled. The tool must call this function immediately before it sends a message. If
   * the function throws, the tool must send nothing.
   */
  readonly beforeSending: () => void;
  /**
   * Sets the session that the tool call waits for. R48: if the client cancels the tool call, the setting `onCancel`
   * decides whether the session's task continues.
   */
  readonly awaits: (awaited: Omit<AwaitedWork, 'delegations'>) => void;
  /** The connection of the client. With `--on-disconnect cancel`, the client's tasks end when it is closed. */
  readonly connection: ClientConnection;
  /**
   * Returns a sentence for each earlier cancelled tool call that no reply has reported yet. The reply to this tool call
   * reports them, so they are returned only once.
   */
  readonly news: () => readonly string[];
  /** Runs `record` when the client has certainly received the reply to this tool call. */
  readonly onConfirmed: (record: OnReplyConfirmed) => void;
  /** Sends the event as a progress notification, if the client requested progress. */
  readonly report: (activity: ToolCallEvent) => void;
  /**
   * Returns the time in milliseconds for which the tool call waits for the task. `waitSeconds` is the argument of the
   * tool call.
   */
  readonly waitMs: (waitSeconds: number | undefined) => number;
  /** What the client can show, the forms that it shows now, and the answers to forms that this request contains. */
  readonly client: ToolCallClient;
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
  readonly name: NameOfTool;
}

export interface BridgeToolDeclaration<
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

export interface ToolSpec<
  Input extends z.ZodObject,
  Output extends z.ZodObject,
> extends BridgeToolDeclaration<Input, Output> {
  /** True if every client must show this tool to the model, even a client that searches for tools. */
  alwaysLoad?: boolean;
  /**
   * True if the tool sends a person's decision. If a person can answer forms, the tool then has the hint
   * `anthropic/requiresUserInteraction`. A client that knows this hint asks the person before it runs the tool. With
   * the setting `human-only`, the tool is not listed.
   */
  decides?: boolean;
  run(input: z.output<Input>, call: ToolCallContext): Promise<ToolAnswer<z.output<Output>>>;
}

export interface IncomingCall {
  words: CallNameAndArguments;
  round: AnsweredFormRound | undefined;
  context: ServerContext;
}

export interface BridgeTool {
  readonly name: ToolName;
  /** The declaration of the tool, from which the reference in the documentation is generated. */
  readonly declaration: BridgeToolDeclaration;
  /** Returns the entry for `tools/list`. Returns undefined if this client must not see the tool. */
  listed(offer: ToolServingContext, context: ServerContext): ListedTool | undefined;
  answer(call: IncomingCall, offer: ToolServingContext): Promise<CallToolResult | InputRequiredResult>;
}
