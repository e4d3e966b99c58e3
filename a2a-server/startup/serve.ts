import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { AbortScope } from '../../shared/runtime/abort.ts';
import { type Clock, systemClock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { removeServerRecord, writeServerRecord } from '../../shared/state/server-record.ts';
import type { ToolServerView } from '../../shared/protocol/tool-approval.ts';
import type { ServerRecord } from '../../shared/state/server-record.ts';
import { prepareStateDirectory, checkWritable } from '../../shared/state/state-directory.ts';
import { obtainToken } from '../../shared/state/token-file.ts';
import { packageVersion } from '../../shared/runtime/version.ts';
import { createCancellingDisconnectHandler } from '../http/streams/cancel-left-task.ts';
import { IGNORE_DISCONNECTS } from '../http/streams/disconnect-handler.ts';
import { offeredAgent } from './offered-agent.ts';
import { createToolsAndCommands } from './tools-and-commands.ts';
import { createWorkspaceOpener } from './settings/open-allowed-workspace.ts';
import { createApp } from './app.ts';
import type { StreamEndReason } from '../http/routes/admit-requests.ts';
import { closeWithConnection } from '../http/streams/close-with-connection.ts';
import { withLoadShedding } from '../http/routes/load-shedding.ts';
import type { ServingPhase } from './app.ts';
import { createOutputReader } from '../executor/output-reader.ts';
import { obtainSharedReceiptKey } from '../receipts/receipt-key.ts';
import { ChatWebhooks } from '../push/chat-webhooks.ts';
import { createAuditLog } from '../audit/audit-log.ts';
import type { AuditAct } from '../audit/audit-record.ts';
import { grantAuditActs, configurationAuditAct } from './audited-acts.ts';
import { createFileRecords } from '../records/file-records.ts';
import type { RecordStore } from '../records/record-store.ts';
import { JournalInUseError, type Journal } from '../journal/journal.ts';
import { createChildProcesses, type ChildProcesses } from '../processes/child-processes.ts';
import { clockProblemText, createClockCheck } from './clock-check-from-settings.ts';
import { listen, serverOrigin, stateInUseError } from './listen.ts';
import { measureAppends } from '../telemetry/measure-appends.ts';
import { openOfferedMetrics } from './offered-metrics.ts';
import { openTelemetry, type Telemetry } from './open-telemetry.ts';
import type { McpServers } from '../mcp-servers/mcp-servers.ts';
import type { McpServerEntry } from '../mcp-servers/server-settings.ts';
import { presenceProblem, unknownMcpServers } from './settings/server-policy.ts';
import { logEvents } from './event-log-lines.ts';
import { openJournal } from './open-journal.ts';
import type { ServerSettings } from './settings/settings.ts';
import { taskServiceFromSettings, turnsFromSettings } from './task-service-from-settings.ts';
import type { OutputReader } from '../tools/builtin/read-output.ts';
import { confinementText } from '../tools/shell/confinement.ts';
import { readBarredDirectory, type BarredDirectory } from '../tools/workspace/barred-directory.ts';
import type { OnRefused } from '../limits/usage-limiter.ts';
import { OpenRequests } from '../limits/open-requests.ts';
import { TaskChangeNotifier } from '../page/task-change-notifier.ts';
import { agentDescription } from './agent-backend.ts';
import { TCP_PROBES } from '../../shared/net/tcp-probes.ts';
import { openPasskeys } from './open-passkeys.ts';
import { openPush } from './open-push.ts';
import { createOwnCard } from './own-card.ts';
import { openAccess } from './open-access.ts';
import { allowedHostsAndOrigins } from './allowed-hosts-and-origins.ts';
import { closeHttpServer } from '../../shared/net/close-http-server.ts';
import { prepareServer, type PreparedServer } from './prepare-server.ts';

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
   * names of the changed ones.
   * @throws ProductError CONFIGURATION if a rule is invalid; then nothing changes
   */
  reload(next: ServerSettings): Promise<string[]>;
  /** Makes a running stop faster: ends the drain and stops running tools at once. */
  hurry(): void;
}

/**
 * Starts one server.
 * @param pageDirectory the directory of the built approval page
 * @throws ProductError CONFIGURATION or STORAGE, after closing everything that it has opened
 */
export async function serve(
  settings: ServerSettings,
  log: Logger,
  pageDirectory: string,
): Promise<ServerRun> {
  const { stateDir } = settings;
  const children = createChildProcesses({
    directory: join(stateDir, 'processes'),
    clock: systemClock,
    graceMs: settings.grace,
    onOrphan: ({ owner, group }, end) =>
      log.warn({ ...owner, group }, `a process group of an earlier server is ${end}`),
  });
  const changes = new TaskChangeNotifier();
  const chatWebhooks = new ChatWebhooks(settings.chatWebhooks);
  const held: {
    journal?: Journal;
    mcpServers?: McpServers | undefined;
    telemetry?: Telemetry;
    run?: ServerRun;
  } = {};
  const outputs: OutputReader = async (toolId, reader) =>
    held.journal === undefined ? undefined : createOutputReader(held.journal)(toolId, reader);
  const makeDirectory = (): Promise<void> => prepareStateDirectory(stateDir);
  const prepared = await prepareServer(settings, { pageDirectory, children, outputs, makeDirectory });
  for (const name of unknownMcpServers(settings))
    log.warn({ server: name }, 'a rule of policy names an MCP server that is not configured');
  await checkWritable(stateDir);
  const ownRecords = createFileRecords(stateDir, (error) =>
    log.error({ err: error }, 'issued tokens and sign-ins of the page cannot be watched'),
  );
  /** Returns the records of this server. Servers that share a journal share its records. */
  const records = (): RecordStore => held.journal?.records ?? ownRecords;
  const audit = () => createAuditLog(records());
  const audited = (act: AuditAct): Promise<void> =>
    audit()
      .append(act, systemClock.now())
      .catch((error: unknown) => log.error({ err: error, act: act.act }, 'an act was not recorded'));
  const token = await obtainToken(stateDir);
  let answer: RequestListener = notReady;
  const server = createServer(TCP_PROBES, (request, response) => {
    closeWithConnection(request, response);
    answer(request, response);
  });
  // A client that has sent FIN may still read (TCP, RFC 9293 §3.6), so it must get its response. By default, Node
  // closes the connection. The next write detects a vanished client. That write is a heartbeat at the latest.
  Object.assign(server, { httpAllowHalfOpen: true });
  // The server listens before it opens the journal. Two servers usually conflict about the address, and the error of
  // `listen` can name the other server.
  const port = await listen(server, settings, { token, stateDir, log });
  try {
    const telemetry = await openTelemetry(settings, { tools: prepared.tools, env: process.env, log });
    held.telemetry = telemetry;
    held.journal = await openJournal(settings, {
      onAppended: (taskId, entries, trace) => {
        logEvents(log, taskId, entries, trace);
        for (const act of grantAuditActs(taskId, entries)) void audited(act);
        changes.note([taskId]);
        chatWebhooks.appended(taskId, entries);
        telemetry.metrics?.appended(taskId, entries);
        telemetry.traces?.appended(taskId, entries, trace);
      },
      onChangedElsewhere: (tasks) => changes.note(tasks),
      onRemoved: (error) => void stopAfterDatabaseRemovedServer(error, log, held.run),
    });
    if (telemetry.metrics) measureAppends(held.journal, telemetry.metrics);
    // Only this server uses the state directory now. It ends the processes of earlier servers. D6: their tasks wait
    // until these processes have ended.
    children
      .endOrphans()
      .catch((error: unknown) =>
        log.error({ err: error }, 'processes of an earlier server could not be ended'),
      );
    const [own] = await Promise.all([
      readBarredDirectory(stateDir),
      audit().append(configurationAuditAct('server.started', settings), systemClock.now()),
    ]);
    held.mcpServers = await startedMcpServers(prepared.mcpServers, settings, { log, children });
    const made = {
      ...prepared,
      records: records(),
      audited,
      children,
      settings,
      log,
      token,
      server,
      port,
      own,
      changes,
      chatWebhooks,
      telemetry,
    };
    const opened = { ...made, journal: held.journal, mcpServers: held.mcpServers };
    held.run = await run(opened, (app) => (answer = app));
    return held.run;
  } catch (error) {
    server.close();
    server.closeAllConnections();
    await held.mcpServers?.close();
    await held.journal?.close();
    await held.telemetry?.close();
    throw error instanceof JournalInUseError ? await stateInUseError(error, stateDir, token) : error;
  }
}

/**
 * E1: stops the tools and the server at once, because other servers may execute the tasks. The returned promise then
 * rejects, so that the process ends with the error.
 * @throws the error
 */
async function stopAfterDatabaseRemovedServer(
  removed: Error,
  log: Logger,
  server: ServerRun | undefined,
): Promise<never> {
  log.fatal({ err: removed }, 'the database does not know this server any more, so this server ends');
  server?.hurry();
  try {
    await server?.stop();
  } catch (error) {
    log.error({ err: error }, 'the shutdown failed');
  }
  throw removed;
}

/** Answers requests that arrive before the server has read the journal. */
const notReady: RequestListener = (request, response) => {
  // WHATWG HTML §9.2: after a status other than 200, an EventSource stops. After a broken connection it reconnects.
  if (request.method === 'GET' && request.headers.accept === 'text/event-stream') request.socket.destroy();
  else response.writeHead(503, { 'Retry-After': '1' }).end();
};

interface Opened extends Omit<PreparedServer, 'mcpServers'> {
  children: ChildProcesses;
  settings: ServerSettings;
  log: Logger;
  token: string;
  server: Server;
  port: number;
  /** The identity of the state directory, independent of its path. */
  own: BarredDirectory;
  journal: Journal;
  records: RecordStore;
  changes: TaskChangeNotifier;
  chatWebhooks: ChatWebhooks;
  /** Writes to the audit log. Resolves also after a failure, which the log names. */
  audited: (act: AuditAct) => Promise<void>;
  telemetry: Telemetry;
  mcpServers?: McpServers | undefined;
}

async function run(opened: Opened, open: (app: RequestListener) => void): Promise<ServerRun> {
  const { settings, log, server, port, own, journal, records, mcpServers, confinement, worker, live } =
    opened;
  /** The clock of the journal. Servers that share a journal use the same time for deadlines, tokens and tickets. */
  const clock: Clock = { ...systemClock, now: () => journal.now() };
  const able = createToolsAndCommands({ journal, tools: opened.tools });
  const openWorkspace = createWorkspaceOpener({
    fallback: settings.workspace,
    allowed: settings.allowWorkspace,
    barred: [own],
  });
  const clockCheck = createClockCheck(settings, log);
  const origin = serverOrigin({ host: settings.host, port });
  const base = settings.publicUrl?.replace(/\/+$/, '') ?? origin;
  const passkeys = openPasskeys(records, base, { clock, log, audited: opened.audited });
  const problem = presenceProblem(live.policy(), base);
  if (problem !== undefined) log.warn(problem);
  const onRefused: OnRefused = (limit, scope) => opened.telemetry.metrics?.refused(limit, scope);
  const turns = turnsFromSettings({ live, clock, onRefused });
  const tasks = taskServiceFromSettings(
    { ...opened, clock, clockCheck, presence: passkeys.presence, openWorkspace, turns, onRefused },
    able,
  );
  const record: ServerRecord = {
    url: origin,
    pid: process.pid,
    version: packageVersion(),
    startedAt: new Date().toISOString(),
  };
  const reading = new AbortScope<StreamEndReason>();
  const { access, close: closeAccess } = await openAccess({ ...opened, record, base, clock });
  const disconnects =
    settings.onDisconnect === 'cancel'
      ? createCancellingDisconnectHandler({ tasks, clock, log })
      : IGNORE_DISCONNECTS;
  const openRequests = new OpenRequests(live.limits, onRefused);
  const metrics = await openOfferedMetrics(opened, tasks);
  const { push, pushKeys } = openPush({ ...opened, tasks, base, clock });
  opened.changes.listen((changed) => push.wake(changed));
  let phase: ServingPhase = 'open';
  const servers = (): ToolServerView[] => mcpServers?.statuses() ?? [];
  const reach = allowedHostsAndOrigins(settings);
  const app = createApp({
    tasks,
    card: await createOwnCard(base, { ...opened, ...able, models: worker.models }),
    commands: able.commands.offered,
    previews: settings.preview,
    page: opened.page,
    changes: opened.changes,
    agent: offeredAgent(settings, worker.models),
    restoring: { checkpoints: able.checkpoints, openWorkspace },
    workspaces: { fallback: settings.workspace ?? null, allowed: settings.allowWorkspace },
    signingKey: () => obtainSharedReceiptKey(settings.stateDir, journal.records),
    pushKeys,
    passkeys,
    ...access,
    clock,
    reach,
    log,
    reading,
    phase: () => phase,
    health: () => ({
      ...record,
      agent: agentDescription(settings),
      stateDirectory: settings.stateDir,
      journal: journal.reachable() ? 'ok' : 'unreachable',
      executing: tasks.executing(),
      waiting: tasks.waiting(),
      toolExecutions: tasks.running().length,
      mcpServers: servers(),
      shell: confinementText(confinement),
      clock: clockCheck.jump === 0 ? 'ok' : clockProblemText(clockCheck.jump),
    }),
    servers,
    disconnects,
    push,
    openRequests,
    ...metrics,
    ...(opened.telemetry.traces && { traces: opened.telemetry.traces }),
  });
  await opened.chatWebhooks.start({ journal, push, log });
  // Old tasks are resumed before the server accepts new requests.
  const [recovered] = await Promise.all([
    tasks.recover(),
    // The first answer of /health already names a wrong clock. Maintenance checks again, and reports a failed check.
    clockCheck.check().catch(() => undefined),
  ]);
  push.start();
  const isKnown = async (principal: string, messageId: string): Promise<boolean> =>
    (await journal.command(principal, messageId)) !== undefined;
  open(withLoadShedding(app, { ...access, ...metrics, reach, turns, isKnown, openRequests, log }));
  await writeServerRecord(settings.stateDir, record).catch(async (error: unknown) => {
    // Clients cannot find a server that has no record. So the server stops the resumed tasks.
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
    disconnects.stop();
    await tasks.shutdown(settings.grace);
    await mcpServers?.close();
    await worker.close();
    await push.stop();
    reading.abort('server-shutdown');
    closeAccess();
    await closeHttpServer(server);
    // The telemetry closes before the journal, because the last metrics still need the journal.
    await opened.telemetry.close();
    await journal.close();
    await removeServerRecord(settings.stateDir, record);
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

/** Loads the MCP client only if servers are configured. The servers start in the background. */
async function startedMcpServers(
  entries: ReadonlyMap<string, McpServerEntry>,
  { grace }: ServerSettings,
  { log, children }: { log: Logger; children: ChildProcesses },
): Promise<McpServers | undefined> {
  if (entries.size === 0) return undefined;
  const { startMcpServers } = await import('../mcp-servers/mcp-servers.ts');
  const { env: environment } = process;
  return startMcpServers(entries, { clock: systemClock, log, graceMs: grace, environment, children });
}
