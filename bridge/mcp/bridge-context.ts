/** The services that the MCP tools use. */
import type { Logger } from '../../shared/runtime/logging.ts';
import type { ApprovalRules } from '../settings/approval-mode.ts';
import type { OpenForms } from '../approvals/open-forms.ts';
import type { PageLinks } from '../approvals/page-links.ts';
import type { RequestStates } from '../approvals/request-state.ts';
import type { AllowedWorkspaces } from '../agents/allowed-workspaces.ts';
import type { Registry } from '../agents/registry.ts';
import type { Inbox } from '../inbox/inbox.ts';
import type { ClientTasks } from '../sessions/client-tasks.ts';
import type { DelegationService } from '../sessions/delegation-service.ts';
import type { ApprovalWebhook } from '../approvals/webhook/approval-webhook.ts';
import type { CutPreviews } from '../state/cut-previews.ts';
import type { UsedPermits } from '../state/used-permits.ts';
import type { LiveSessions } from '../sessions/live-sessions.ts';
import type { Sessions } from '../sessions/sessions.ts';

export interface Bridge {
  readonly registry: Registry;
  /** The sessions in memory. */
  readonly live: LiveSessions;
  readonly sessions: Sessions;
  readonly delegations: DelegationService;
  /** Which client delegated which task. */
  readonly clientTasks: ClientTasks;
  readonly rules: ApprovalRules;
  /** The open forms, of all clients. */
  readonly offers: OpenForms;
  /** Links to the pages of the agents' servers. */
  readonly links: PageLinks;
  readonly requestStates: RequestStates;
  /** The questions whose preview was cut in a result. */
  readonly cutPreviews: CutPreviews;
  readonly usedPermits: UsedPermits;
  readonly inbox: Inbox;
  /** Undefined when the settings name no webhook. */
  readonly webhook: ApprovalWebhook | undefined;
  readonly log: Logger;
  readonly version: string;
  /** The command line with which a person runs this program at a terminal, with this bridge's settings. */
  readonly program: string;
  /** The directories that a call may use as its workspace. */
  readonly workspaces: AllowedWorkspaces;
  /** It contains tokens. So no call may attach a file of it. */
  readonly stateDirectory: string;
  readonly defaults: {
    /** How long a call waits for its task, in seconds, if the call sets no time. Undefined if the settings set none. */
    waitSeconds: number | undefined;
    /** The working directory of local agents, when the call names none. */
    workspace: string;
  };
  /** Closes connections and files. Tasks continue. */
  close(): void;
}
