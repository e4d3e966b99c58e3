/** Starts and stops a server whose address, journal and telemetry are already open. */
import type { RequestListener } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { AbortScope } from '../../shared/runtime/abort.ts';
import { type Clock, systemClock } from '../../shared/runtime/clock.ts';
import {
  removeOwnServerRecord,
  writeServerRecord,
  type ServerRecord,
} from '../../shared/state/server-record.ts';
import type { ToolServerView } from '../../shared/protocol/tool-approval.ts';
import { readPackageVersion } from '../../shared/runtime/version.ts';
import {
  CancellingDisconnectHandler,
  IGNORE_DISCONNECTS,
  type DisconnectHandler,
} from '../http/streams/on-disconnect.ts';
import { ReadersAtOtherServers } from '../http/streams/readers-at-other-servers.ts';
import { describeOfferedAgent, createServerAgentCard } from './server-agent-card.ts';
import { createToolsAndCommands } from './tools-and-commands.ts';
import { createWorkspaceOpener } from './settings/open-allowed-workspace.ts';
import { createApp, type ServingPhase } from './app.ts';
import type { StreamEndReason } from '../http/routes/admit-requests.ts';
import { withLoadShedding } from '../http/routes/load-shedding.ts';
import { obtainSharedReceiptKey } from '../receipts/receipt-key.ts';
import { configurationAuditAct } from './audited-acts.ts';
import { clockProblemText, createClockCheck } from './clock-check-from-settings.ts';
import { serverOrigin } from './listen.ts';
import { openOfferedMetrics } from './offered-metrics.ts';
import { presencePolicyProblem } from './settings/server-policy.ts';
import type { ServerSettings } from './settings/settings.ts';
import { createTaskServiceFromSettings, createExecutionSlots } from './task-service-from-settings.ts';
import { confinementText } from '../tools/shell/confinement.ts';
import type { OnRefused } from '../limits/concurrency-limiter.ts';
import { OpenRequestLimiter } from '../limits/open-request-limiter.ts';
import { agentBackendText } from './agent-backend.ts';
import { openPasskeys } from './open-passkeys.ts';
import { openPushNotifications } from './open-push.ts';
import { openAccessControl } from './open-access-control.ts';
import { allowedHostsAndOrigins } from './allowed-hosts-and-origins.ts';
import { closeHttpServer } from '../../shared/net/close-http-server.ts';
import type { OpenedServer } from './prepare-server.ts';
import type { ClockCheck } from '../executor/clock-check.ts';
import type { RunningTaskService } from '../executor/task-service.ts';
import type { PushConfigurations } from '../push/push-configurations.ts';

export interface ServerRun {
  record: ServerRecord;
  /** The number of tasks that the server resumed at its start. */
  recovered: number;
  /**
   * Stops the server: drains, refuses new requests, waits for running tools, ends the streams, and closes the journal.
   * Repeated calls return the same promise.
   */
  stop(): Promise<void>;
  /**
   * Applies the settings that a running server can change, and records the change in the audit log. Resolves with the
   * names of the changed settings.
   * @throws ProductError CONFIGURATION if a rule is invalid; then nothing changes
   */
  reload(next: ServerSettings): Promise<string[]>;
  /** Makes a running stop faster: ends the drain and stops running tools at once. */
  hurry(): void;
}

/**
 * Resumes the tasks, and then answers requests.
 * @param open gets the function that answers requests
 */
export async function startOpenedServer(
  opened: OpenedServer,
  open: (app: RequestListener) => void,
): Promise<ServerRun> {
  const { settings, log, port, own, journal, records, worker, live } = opened;
  /** The clock of the journal. Servers that share a journal use the same time for deadlines, tokens and tickets. */
  const clock: Clock = { ...systemClock, now: () => journal.now() };
  const able = createToolsAndCommands({
    journal,
    tools: opened.tools,
    onDamaged: (taskId, error) =>
      log.error({ taskId, err: error }, 'a list of checkpoints leaves out a task'),
  });
  const openWorkspace = createWorkspaceOpener({
    fallback: settings.workspace,
    allowed: settings.allowWorkspace,
    barred: [own],
  });
  const clockCheck = createClockCheck(settings, log);
  const origin = serverOrigin({ host: settings.host, port });
  const base = settings.publicUrl?.replace(/\/+$/, '') ?? origin;
  const passkeys = openPasskeys(records, base, { clock, log, audited: opened.audited });
  const problem = presencePolicyProblem(live.policy(), base);
  if (problem !== undefined) log.warn(problem);
  const onRefused: OnRefused = (limit, scope) => opened.telemetry.metrics?.refused(limit, scope);
  const slots = createExecutionSlots({ live, clock, onRefused });
  const tasks = createTaskServiceFromSettings(
    { ...opened, clock, clockCheck, presence: passkeys.presence, openWorkspace, slots, onRefused },
    able,
  );
  const record: ServerRecord = {
    url: origin,
    pid: process.pid,
    version: readPackageVersion(),
    startedAt: new Date().toISOString(),
  };
  const reading = new AbortScope<StreamEndReason>();
  const { access, close: closeAccess } = await openAccessControl({ ...opened, record, base, clock });
  const { disconnects, others } = openDisconnectHandler(opened, { tasks, clock });
  const openRequests = new OpenRequestLimiter(live.limits, onRefused);
  const metrics = await openOfferedMetrics(opened, tasks);
  const { push, pushKeys } = openPushNotifications({ ...opened, ...access, tasks, base, clock });
  opened.changes.listen((changed) => push.wake(changed));
  let phase: ServingPhase = 'open';
  const allowedHosts = allowedHostsAndOrigins(settings);
  const app = createApp({
    tasks,
    card: await createServerAgentCard(base, { ...opened, ...able, models: worker.models }),
    commands: able.commands.offered,
    draftProtocols: settings.preview,
    page: opened.page,
    changes: opened.changes,
    agent: describeOfferedAgent(settings, worker.models),
    restoring: { checkpoints: able.checkpoints, openWorkspace },
    workspaces: { fallback: settings.workspace ?? null, allowed: settings.allowWorkspace },
    signingKey: () => obtainSharedReceiptKey(settings.stateDir, journal.records),
    pushKeys,
    passkeys,
    ...access,
    clock,
    allowedHosts,
    log,
    reading,
    phase: () => phase,
    health: () => health(opened, { record, clockCheck }),
    operation: () => ({
      ...record,
      stateDirectory: settings.stateDir,
      executing: tasks.executing(),
      waiting: tasks.waiting(),
      toolExecutions: tasks.running().length,
    }),
    servers: () => serversOf(opened),
    disconnects,
    push,
    openRequests,
    onRefused,
    ...metrics,
    ...(opened.telemetry.traces && { traces: opened.telemetry.traces }),
  });
  await opened.chatWebhooks.start({ journal, push, log });
  // Old tasks are resumed before the server accepts new requests.
  const [recovered] = await Promise.all([
    tasks.recover(),
    // The clock is checked here, so that even the first answer of /health names a wrong clock. An error is ignored,
    // because maintenance checks again and reports it.
    clockCheck.check().catch(() => undefined),
  ]);
  push.start();
  const isKnown = async (principal: string, messageId: string): Promise<boolean> =>
    (await journal.command(principal, messageId)) !== undefined;
  open(withLoadShedding(app, { ...access, ...metrics, allowedHosts, slots, isKnown, openRequests, log }));
  await writeServerRecord(settings.stateDir, record).catch(async (error: unknown) => {
    // The record could not be written, so clients could not find this server. It stops the resumed tasks, and its start
    // fails.
    await tasks.shutdown(0);
    await worker.close();
    throw error;
  });

  const hurried = new AbortController();
  const stop = async (): Promise<void> => {
    // Without a drain, the server must refuse requests at once. Even a timer of 0 ms would let a request in.
    if (settings.drain) {
      phase = 'draining';
      await wait(settings.drain, undefined, hurried).catch(() => undefined);
    }
    phase = 'closing';
    await closeParts(opened, { tasks, disconnects, others, push, reading, closeAccess, record });
  };
  let stopped: Promise<void> | undefined;
  const hurry = (): void => {
    hurried.abort();
    tasks.stopTools();
  };
  const reload = async (next: ServerSettings): Promise<string[]> => {
    const changed = live.change(next);
    if (changed.length > 0) await opened.audited(configurationAuditAct('server.reloaded', live.current));
    return changed;
  };
  return { record, recovered, reload, stop: () => (stopped ??= stop()), hurry };
}

function serversOf({ mcpServers }: OpenedServer): ToolServerView[] {
  return mcpServers?.statuses() ?? [];
}

/** Returns the content of `GET /health` for every caller. */
function health(
  opened: OpenedServer,
  { record, clockCheck }: { record: ServerRecord; clockCheck: ClockCheck },
): { journal: 'ok' | 'unreachable'; [field: string]: unknown } {
  const { settings, journal, confinement } = opened;
  return {
    version: record.version,
    agent: agentBackendText(settings),
    // The lease is checked too. If the database hangs, its connections stay open, so `reachable` may return true. But
    // the lease ends.
    journal: journal.reachable() && journal.ownership.leaseMs() !== 0 ? 'ok' : 'unreachable',
    mcpServers: serversOf(opened),
    shell: confinementText(confinement),
    clock: clockCheck.jump === 0 ? 'ok' : clockProblemText(clockCheck.jump),
  };
}

interface Disconnects {
  disconnects: DisconnectHandler;
  /** Present if other servers may have readers of the same tasks. */
  others: ReadersAtOtherServers | undefined;
}

/** Creates the handler that cancels tasks of disconnected clients, if the setting `onDisconnect` says so. */
function openDisconnectHandler(
  { settings, journal, records, log }: OpenedServer,
  { tasks, clock }: { tasks: RunningTaskService; clock: Clock },
): Disconnects {
  if (settings.onDisconnect !== 'cancel') return { disconnects: IGNORE_DISCONNECTS, others: undefined };
  const others = journal.ownership.shared ? new ReadersAtOtherServers({ records, clock, log }) : undefined;
  others?.removeOld();
  return { disconnects: new CancellingDisconnectHandler({ tasks, clock, log, others }), others };
}

interface StartedParts extends Disconnects {
  tasks: RunningTaskService;
  push: PushConfigurations;
  reading: AbortScope<StreamEndReason>;
  closeAccess: () => void;
  record: ServerRecord;
}

/** Closes the parts of a server that refuses new requests: first the work, then the streams, then the journal. */
async function closeParts(
  { settings, server, journal, mcpServers, worker, telemetry }: OpenedServer,
  { tasks, disconnects, others, push, reading, closeAccess, record }: StartedParts,
): Promise<void> {
  disconnects.stop();
  await tasks.shutdown(settings.grace);
  await mcpServers?.close();
  await worker.close();
  await push.stop();
  reading.abort('server-shutdown');
  closeAccess();
  await closeHttpServer(server);
  await others?.close();
  // The telemetry closes before the journal, because the last metrics still need the journal.
  await telemetry.close();
  await journal.close();
  await removeOwnServerRecord(settings.stateDir, record);
}
