/**
 * Prepares a server from its settings, before it opens its journal or a port. A start and `a2a-server check` both use
 * this code, so both refuse the same settings.
 */
import type { Server } from 'node:http';
import type { Journal } from '../journal/journal.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { ChatWebhookSubscriber } from '../push/chat-webhooks.ts';
import type { NewAuditRecord } from '../audit/audit-record.ts';
import type { Telemetry } from './open-telemetry.ts';
import type { McpServers } from '../mcp-servers/mcp-servers.ts';
import type { BarredDirectory } from '../tools/workspace/barred-directory.ts';
import type { TaskChangeNotifier } from '../page/task-change-notifier.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { mayRunSomeUnasked } from '../policy/task-mode.ts';
import type { KeyObject } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { programExists } from '../../shared/runtime/find-program.ts';
import { acpCommandText } from '../models/acp/agent-program.ts';
import type { McpServerConfig } from '../mcp-servers/server-settings.ts';
import { resolveEnabledServers } from '../mcp-servers/expand-server-variables.ts';
import { readPageFiles, type PageFiles } from '../page/page-route.ts';
import type { ProviderRetryPolicy } from '../models/retry-policy.ts';
import type { ChildProcessRecords } from '../processes/child-process-records.ts';
import { builtinTools } from '../tools/builtin/builtin-tools.ts';
import type { ReadToolOutput } from '../tools/builtin/read-output.ts';
import { chooseConfinement, type Confinement } from '../tools/shell/confinement.ts';
import type { Tool } from '../tools/tool.ts';
import { readCardKey } from './card-key.ts';
import { createAgentBackend, type AgentBackend } from './agent-backend.ts';
import { LiveSettings } from './settings/live-settings.ts';
import { checkOidcSignInSettings } from './check-oidc-sign-in-settings.ts';
import type { ServerSettings } from './settings/settings.ts';

export interface PreparedServer {
  page: PageFiles;
  /** The agent that runs the tasks. The caller must close it. */
  worker: AgentBackend;
  confinement: Confinement;
  tools: readonly Tool[];
  /** The settings that a running server can change, among them the policy. */
  live: LiveSettings;
  /** The key that signs the agent card. Undefined if the card is not signed. */
  cardKey: KeyObject | undefined;
  /** The MCP servers to start. Variables in their settings are already replaced by values. */
  mcpServers: ReadonlyMap<string, McpServerConfig>;
}

/** What `serve` has opened. */
export interface OpenedServer extends Omit<PreparedServer, 'mcpServers'> {
  children: ChildProcessRecords;
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
  chatWebhooks: ChatWebhookSubscriber;
  /** Writes to the audit log. Resolves also after a failure, which the log names. */
  audited: (act: NewAuditRecord) => Promise<void>;
  telemetry: Telemetry;
  mcpServers?: McpServers | undefined;
}

interface ServerDependencies {
  pageDirectory: string;
  children: ChildProcessRecords;
  outputs: ReadToolOutput;
  /** The retry policy for failing providers. The default is `PROVIDER_RETRY_POLICY`. */
  retryPolicy?: ProviderRetryPolicy;
  /** Creates the state directory. In a check, the function does nothing. */
  makeDirectory: () => Promise<void>;
}

/** Creates the agent, the tools and the policy from the settings. @throws ProductError CONFIGURATION */
export async function prepareServer(
  settings: ServerSettings,
  { pageDirectory, children, outputs, retryPolicy, makeDirectory }: ServerDependencies,
): Promise<PreparedServer> {
  refuseModeWithoutQuestion(settings);
  await requireAgentProgram(settings);
  await checkOidcSignInSettings(settings, process.env);
  const cardKey = settings.cardKey === undefined ? undefined : await readCardKey(settings.cardKey);
  const page = await readPageFiles(pageDirectory);
  const worker = await createAgentBackend(settings, children, retryPolicy);
  await makeDirectory();
  const confinement = await confinementOf(settings);
  const tools = worker.tools ?? toolsOf(settings, { confinement, outputs, children });
  const live = new LiveSettings(settings, tools);
  const mcpServers = resolveEnabledServers(settings.mcpServers, process.env);
  return { page, worker, confinement, tools, live, cardKey, mcpServers };
}

/**
 * Refuses a default mode in which some tool calls run without approval, if `fourEyes` demands the approval of another
 * person.
 * @throws ProductError CONFIGURATION
 */
function refuseModeWithoutQuestion({ fourEyes, mode }: ServerSettings): void {
  if (!fourEyes || !mayRunSomeUnasked({ mode })) return;
  throw new ProductError(
    'CONFIGURATION',
    `--four-eyes demands another person's approval, and --mode ${mode} approves calls in advance. Use one of the two.`,
    { facts: { key: 'fourEyes' } },
  );
}

/**
 * Refuses an ACP agent whose program is missing. Otherwise, the server would start, and each task would fail. A
 * relative path is not checked, because it begins at the workspace of a task.
 * @throws ProductError CONFIGURATION
 */
async function requireAgentProgram({ agent }: ServerSettings): Promise<void> {
  if (agent.type !== 'acp') return;
  const { command } = agent;
  const onPath = !/[\\/]/u.test(command);
  if (!onPath && !isAbsolute(command)) return;
  if (await programExists(command, process)) return;
  throw new ProductError(
    'CONFIGURATION',
    `The agent ${acpCommandText(agent)} cannot be started: there is no program ${JSON.stringify(command)}${onPath ? ' on the PATH of the server' : ''}. Install it, or correct the setting "agent".`,
    { facts: { key: 'agent' } },
  );
}

/**
 * Returns the sandbox of shell commands. If the settings require a sandbox and it does not work, the start fails (X1:
 * fail closed).
 */
async function confinementOf({ confineShell, shellNetwork, stateDir }: ServerSettings): Promise<Confinement> {
  return chooseConfinement({
    confine: confineShell,
    network: shellNetwork,
    // X2: a confined command must not read the server's token or journal. In a check, the directory may be missing.
    hidden: [await realpath(stateDir).catch(() => stateDir)],
  });
}

function toolsOf(
  { grace, passEnv, allowPrivateHost }: ServerSettings,
  made: { confinement: Confinement; outputs: ReadToolOutput; children: ChildProcessRecords },
): Tool[] {
  return builtinTools({
    graceMs: grace,
    passEnvironment: passEnv,
    privateHosts: allowPrivateHost,
    ...made,
  });
}
