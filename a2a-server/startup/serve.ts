import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { prepareStateDirectory, checkWritable } from '../../shared/state/state-directory.ts';
import { readOrCreateTokenFile } from '../../shared/state/token-file.ts';
import { answerInOrder } from '../http/streams/answer-in-order.ts';
import { createToolOutputReader } from '../executor/tool-executions/output-reader.ts';
import { ChatWebhookSubscriber } from '../push/chat-webhooks.ts';
import { createAuditLog } from '../audit/audit-log.ts';
import type { NewAuditRecord } from '../audit/audit-record.ts';
import { grantAuditActs, configurationAuditAct } from './audited-acts.ts';
import { createFileRecordStore } from '../records/file-records.ts';
import type { RecordStore } from '../records/record-store.ts';
import { JournalInUseError, type Journal } from '../journal/journal.ts';
import { createChildProcessRecords, type ChildProcessRecords } from '../processes/child-process-records.ts';
import { answerWhileStarting } from './answer-while-starting.ts';
import { listen, stateInUseError } from './listen.ts';
import { measureAppends } from '../telemetry/measure-appends.ts';
import { openTelemetry, type Telemetry } from './open-telemetry.ts';
import type { McpServers } from '../mcp-servers/mcp-servers.ts';
import type { McpServerConfig } from '../mcp-servers/server-settings.ts';
import { unknownMcpServers } from './settings/server-policy.ts';
import { logJournalEntries } from './event-log-lines.ts';
import { openJournal } from './open-journal.ts';
import type { ServerSettings } from './settings/settings.ts';
import type { ReadToolOutput } from '../tools/builtin/read-output.ts';
import { identifyBarredDirectory } from '../tools/workspace/barred-directory.ts';
import { TaskChangeNotifier } from '../page/task-change-notifier.ts';
import { TCP_KEEP_ALIVE } from '../../shared/net/tcp-keep-alive.ts';
import { prepareServer } from './prepare-server.ts';
import { startOpenedServer, type ServerRun } from './start-opened-server.ts';

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
  const children = createChildProcessRecords({
    directory: join(stateDir, 'processes'),
    clock: systemClock,
    graceMs: settings.grace,
    onOrphan: ({ owner, group }, end) =>
      log.warn({ ...owner, group }, `a process group of an earlier server is ${end}`),
  });
  const changes = new TaskChangeNotifier();
  const chatWebhooks = new ChatWebhookSubscriber(settings.chatWebhooks);
  const held: {
    journal?: Journal;
    mcpServers?: McpServers | undefined;
    telemetry?: Telemetry;
    run?: ServerRun;
  } = {};
  const outputs: ReadToolOutput = async (toolId, reader) =>
    held.journal === undefined ? undefined : createToolOutputReader(held.journal)(toolId, reader);
  const makeDirectory = (): Promise<void> => prepareStateDirectory(stateDir);
  const prepared = await prepareServer(settings, { pageDirectory, children, outputs, makeDirectory });
  for (const name of unknownMcpServers(settings))
    log.warn({ server: name }, 'a rule of policy names an MCP server that is not configured');
  await checkWritable(stateDir);
  const ownRecords = createFileRecordStore(stateDir, (error) =>
    log.error({ err: error }, 'the server cannot watch its records of tokens and page sign-ins'),
  );
  /** Returns the records of this server. Servers that share a journal share its records. */
  const records = (): RecordStore => held.journal?.records ?? ownRecords;
  const audit = () => createAuditLog(records());
  const audited = (act: NewAuditRecord): Promise<void> =>
    audit()
      .append(act, systemClock.now())
      .catch((error: unknown) =>
        log.error({ err: error, act: act.act }, 'an administrative action was not recorded in the audit log'),
      );
  const token = await readOrCreateTokenFile(stateDir);
  let answer: RequestListener = answerWhileStarting;
  const server = createServer(
    TCP_KEEP_ALIVE,
    answerInOrder((request, response) => answer(request, response)),
  );
  // A client that has sent FIN may still read (TCP, RFC 9293 §3.6). By default, Node would close the connection, so
  // this option keeps it open for the response. If the client has vanished, the next write, e.g. a heartbeat, detects
  // it.
  Object.assign(server, { httpAllowHalfOpen: true });
  // The server listens before it opens the journal. So if another server runs, `listen` usually fails first, and its
  // error can name the other server.
  const port = await listen(server, settings, { token, stateDir, log });
  try {
    const telemetry = await openTelemetry(settings, { tools: prepared.tools, env: process.env, log });
    held.telemetry = telemetry;
    held.journal = await openJournal(settings, {
      onAppended: (taskId, entries, trace) => {
        logJournalEntries(log, { taskId, entries, trace });
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
    // Only this server uses the state directory now. So it ends the processes that earlier servers have left behind.
    // D6: the tasks of these processes wait until the processes have ended.
    children
      .endOrphans()
      .catch((error: unknown) =>
        log.error({ err: error }, 'processes of an earlier server could not be ended'),
      );
    const [own] = await Promise.all([
      identifyBarredDirectory(stateDir),
      audit().append(configurationAuditAct('server.started', settings), systemClock.now()),
    ]);
    held.mcpServers = await startedMcpServers(prepared.mcpServers, settings, { log, children });
    const opened = {
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
      journal: held.journal,
      mcpServers: held.mcpServers,
    };
    held.run = await startOpenedServer(opened, (app) => (answer = app));
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

/** Loads the MCP client only if servers are configured. The servers start in the background. */
async function startedMcpServers(
  entries: ReadonlyMap<string, McpServerConfig>,
  { grace }: ServerSettings,
  { log, children }: { log: Logger; children: ChildProcessRecords },
): Promise<McpServers | undefined> {
  if (entries.size === 0) return undefined;
  const { startMcpServers } = await import('../mcp-servers/mcp-servers.ts');
  const { env: environment } = process;
  return startMcpServers(entries, { clock: systemClock, log, graceMs: grace, environment, children });
}
