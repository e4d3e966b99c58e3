/** What the MCP server, its tools and its other methods need to serve one client. */
import type { McpServer, RequestId } from '@modelcontextprotocol/server';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { ApprovalMode } from '../../settings/approval-mode.ts';
import type { BridgeDraftProtocol } from '../../settings/draft-protocols.ts';
import type { OnCancel } from '../../settings/on-cancel.ts';
import type { CallSpans } from '../../telemetry/call-spans.ts';
import type { ClientConnection } from '../../sessions/delegating-clients.ts';
import type { ClientFollowedTasks } from '../../sessions/client-followed-tasks.ts';
import type { SentReplies } from '../../sessions/replies-not-confirmed-by-client.ts';
import type { BridgeContext } from '../bridge-context.ts';
import type { CancelledMcpCalls } from '../cancelled-calls/cancelled-calls.ts';
import type { SeenResults } from './seen-results.ts';

export interface McpServerOptions {
  version: string;
  /** The prefix of tool names. */
  prefix: string;
  log: Logger;
  onCancel: OnCancel;
  approvals: ApprovalMode;
  draftProtocols: readonly BridgeDraftProtocol[];
  /** The path of the built approval card. */
  cardFile: string;
  /** Records a span for each tool call. Undefined if traces are switched off. */
  spans: CallSpans | undefined;
  /**
   * Opens the bridge's services when a request first needs them, so that the client's first requests do not wait for
   * this.
   */
  bridge: () => Promise<BridgeContext>;
}

export interface ServedMcpClient {
  connection: ClientConnection;
  withdrawals: CancelledMcpCalls;
  receipts: SentReplies;
  /** The MCP tasks that the client follows. Undefined if requests do not identify their client. */
  followed: ClientFollowedTasks | undefined;
  /**
   * What the client already has from earlier results, by session. Undefined if requests do not identify their client.
   */
  seen: SeenResults | undefined;
  /** True if a program, not a person, answers the client's forms. */
  unattended: boolean;
  /**
   * Called when a cancelled tool call has ended. A transport with one stream for each tool call then closes that
   * stream.
   */
  released?: (requestId: RequestId) => void;
}

export interface ToolServingContext extends McpServerOptions, ServedMcpClient {
  server: McpServer;
}
