/**
 * Opens the services that the MCP tools use: agents, outbox and sessions. This module is imported when a tool first
 * needs them.
 */
import { clientTerminalColumns } from '../approvals/client-terminal-width.ts';
import { FormHistory } from '../approvals/form-history.ts';
import { formRowColumns } from '../approvals/form-rows.ts';
import { ApprovalCardCodes } from '../approvals/card-codes.ts';
import { PageLinks } from '../approvals/page-links.ts';
import { RequestStateSigner } from '../approvals/request-state.ts';
import type { BridgeContext } from '../mcp/bridge-context.ts';
import { ResultInbox } from '../inbox/result-inbox.ts';
import { DesktopNotifications } from '../inbox/desktop-notifications.ts';
import { InboxFollower } from '../inbox/inbox-follower.ts';
import { HookNoticeFiles } from '../inbox/notice-files.ts';
import { DelegatingClients } from '../sessions/delegating-clients.ts';
import { logSessionChanges } from '../sessions/log-session-changes.ts';
import { IncompletePreviewRecords } from '../state/incomplete-preview-records.ts';
import { NotifiedEntryRecords } from '../state/notified-entry-records.ts';
import { UsedPermits } from '../state/used-permits.ts';
import { openSessions, type OpenSessionsOptions } from './open-sessions.ts';

interface OpenBridgeOptions extends Omit<OpenSessionsOptions, 'channel'> {
  program: string;
  version: string;
}

/** @throws ProductError CONFIGURATION if the state directory cannot be used; STORAGE if its database cannot be used */
export async function openBridge(options: OpenBridgeOptions): Promise<BridgeContext> {
  const { settings, env, log, program, version } = options;
  const opened = await openSessions({ ...options, channel: 'mcp' });
  const { registry, database, outbox, results, live, delegations, sessions } = opened;
  logSessionChanges(live, log);
  const inbox = new ResultInbox({ ...opened, log });
  const outside = new InboxFollower({
    surfaces: [
      new HookNoticeFiles(settings.stateDir, (tool) => `${settings.toolPrefix}${tool}`),
      ...(settings.desktopNotifications
        ? [new DesktopNotifications(new NotifiedEntryRecords(database), log)]
        : []),
    ],
    stateDirectory: settings.stateDir,
    database,
    results,
    live,
    log,
  });
  const { approvalWebhook } = settings;
  const webhook =
    approvalWebhook === undefined
      ? undefined
      : await import('../approvals/webhook/approval-webhook.ts').then(({ ApprovalWebhook }) =>
          ApprovalWebhook.open({ ...opened, settings: approvalWebhook, env, log }),
        );
  // B3: a killed bridge loses nothing. So this bridge finishes the unfinished work of earlier bridges. `openBridge`
  // does not wait for that.
  delegations.recover().catch((error: unknown) => log.warn({ err: error }, 'the outbox could not be read'));
  // Checks for results of earlier bridges before the first tool call. The person may be away from the MCP client. Then
  // only the webhook or a desktop notification reaches the person.
  if (webhook !== undefined || outside.wanted) void inbox.refresh();
  return {
    registry,
    live,
    sessions,
    delegations,
    clientTasks: new DelegatingClients({ outbox, live, delegations, log }),
    rules: { approvals: settings.approvals, fastestAnswerMs: settings.fastestAnswerSeconds * 1000 },
    formHistory: new FormHistory({
      fields: settings.forms,
      taskTitle: (taskId) => outbox.titleAmongSeveral(taskId),
      agentName: (taskId) => (registry.all.length > 1 ? live.agentNameOfTask(taskId) : undefined),
      // The width is known only for the window of a client on stdio.
      columns: () => formRowColumns(settings.stdio ? clientTerminalColumns() : undefined),
    }),
    links: new PageLinks(),
    cardCodes: new ApprovalCardCodes(),
    requestStates: new RequestStateSigner(settings.stateDir),
    incompletePreviews: new IncompletePreviewRecords(database),
    usedPermits: new UsedPermits(database),
    inbox,
    webhook,
    log,
    version,
    program,
    workspaces: {
      own: settings.workspace,
      listed: settings.allowWorkspace,
      fromRoots: settings.workspaceFromRoots,
    },
    stateDirectory: settings.stateDir,
    defaults: { waitSeconds: settings.waitSeconds, workspace: settings.workspace },
    close: () => {
      outside.close();
      webhook?.close();
      live.close();
      database.close();
    },
  };
}
