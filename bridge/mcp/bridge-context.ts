import type { Logger } from '../../shared/runtime/logging.ts';
import type { ApprovalSettings } from '../settings/approval-mode.ts';
import type { FormHistory } from '../approvals/form-history.ts';
import type { ApprovalCardCodes } from '../approvals/card-codes.ts';
import type { PageLinks } from '../approvals/page-links.ts';
import type { RequestStateSigner } from '../approvals/request-state.ts';
import type { AllowedCallWorkspaces } from '../agents/check-workspace.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import type { ResultInbox } from '../inbox/result-inbox.ts';
import type { DelegatingClients } from '../sessions/delegating-clients.ts';
import type { DelegationService } from '../sessions/deliver-delegations.ts';
import type { ApprovalWebhook } from '../approvals/webhook/approval-webhook.ts';
import type { IncompletePreviewRecords } from '../state/incomplete-preview-records.ts';
import type { UsedPermits } from '../state/used-permits.ts';
import type { LiveSessions } from '../sessions/live-sessions.ts';
import type { Sessions } from '../sessions/sessions.ts';

export interface BridgeContext {
  readonly registry: AgentRegistry;
  readonly live: LiveSessions;
  readonly sessions: Sessions;
  readonly delegations: DelegationService;
  /** Records which client delegated which task. */
  readonly clientTasks: DelegatingClients;
  readonly rules: ApprovalSettings;
  readonly formHistory: FormHistory;
  readonly links: PageLinks;
  readonly cardCodes: ApprovalCardCodes;
  readonly requestStates: RequestStateSigner;
  /** Records the actions whose preview was incomplete in a tool result. */
  readonly incompletePreviews: IncompletePreviewRecords;
  readonly usedPermits: UsedPermits;
  readonly inbox: ResultInbox;
  readonly webhook: ApprovalWebhook | undefined;
  readonly log: Logger;
  readonly version: string;
  /** The command line that runs this program in a terminal with this bridge's settings. */
  readonly program: string;
  /** The directories that a tool call may use as its workspace without a person's permission. */
  readonly workspaces: AllowedCallWorkspaces & {
    /** True if `allowedCallWorkspaces` uses the first MCP root of the client instead of `own`. */
    fromRoots: boolean;
  };
  /** The state directory. A tool call may attach no file from it, because it contains tokens. */
  readonly stateDirectory: string;
  readonly defaults: {
    /**
     * The time in seconds for which a tool call waits for its task, if the tool call gives no time. Undefined if the
     * settings give none either.
     */
    waitSeconds: number | undefined;
    /** The workspace of a task if the tool call names none. */
    workspace: string;
  };
  /** Closes the connections and files. Tasks continue. */
  close(): void;
}
