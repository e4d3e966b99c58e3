/** What the tools work with. */
import type { Logger } from '../../shared/runtime/logging.ts';
import type { ApprovalRules } from '../settings/approval-mode.ts';
import type { OpenForms } from '../approvals/open-forms.ts';
import type { PageLinks } from '../approvals/page-links.ts';
import type { RequestStates } from '../approvals/request-state.ts';
import type { AllowedWorkspaces } from '../agents/allowed-workspaces.ts';
import type { Registry } from '../agents/registry.ts';
import type { Inbox } from '../inbox/inbox.ts';
import type { DelegationService } from '../sessions/delegation-service.ts';
import type { ApprovalWebhook } from '../approvals/webhook/approval-webhook.ts';
import type { Sessions } from '../sessions/sessions.ts';

export interface Bridge {
  readonly registry: Registry;
  readonly sessions: Sessions;
  readonly delegations: DelegationService;
  readonly rules: ApprovalRules;
  /** The forms that are out, to whichever client. */
  readonly offers: OpenForms;
  /** Links to the pages of the agents' servers. */
  readonly links: PageLinks;
  readonly requestStates: RequestStates;
  readonly inbox: Inbox;
  /** Undefined where none is set. */
  readonly webhook: ApprovalWebhook | undefined;
  readonly log: Logger;
  readonly version: string;
  /** How a person runs this program at a terminal, with the settings of this bridge. */
  readonly program: string;
  /** What a call may name as its workspace. */
  readonly workspaces: AllowedWorkspaces;
  readonly defaults: {
    /** How long a call waits for its task, in seconds, unless it says otherwise; undefined when nobody has set it. */
    waitSeconds: number | undefined;
    /** The directory local agents work in, unless the call says otherwise. */
    workspace: string;
  };
  /** Lets go of everything; tasks are not touched. */
  close(): void;
}
