/**
 * Makes everything that a server needs from its settings, before it opens its journal or a port. A start and `a2a-server
 * check` both call this, so they refuse the same settings.
 */
import { realpath } from 'node:fs/promises';
import type { McpServerEntry } from '../mcp-servers/server-settings.ts';
import { serversToStart } from '../mcp-servers/variables.ts';
import { readPage, type Page } from '../page/page-route.ts';
import type { Policy } from '../policy/policy.ts';
import type { ChildProcesses } from '../processes/child-processes.ts';
import { builtinTools } from '../tools/builtin/builtin-tools.ts';
import type { ReadOutput } from '../tools/builtin/read-output.ts';
import { findConfinement, type Confinement } from '../tools/shell/confinement.ts';
import type { Tool } from '../tools/tool.ts';
import { createAgentBackend, type AgentBackend } from './agent-backend.ts';
import { serverPolicy } from './server-policy.ts';
import type { ServerSettings } from './settings.ts';

export interface Prepared {
  page: Page;
  /** Close it. */
  worker: AgentBackend;
  confinement: Confinement;
  tools: readonly Tool[];
  policy: Policy;
  /** The MCP servers to start, with all variables expanded. */
  mcpServers: ReadonlyMap<string, McpServerEntry>;
}

export interface Surroundings {
  /** The directory of the built approval page. */
  pageDirectory: string;
  children: ChildProcesses;
  outputs: ReadOutput;
  /** Makes the state directory. A check makes nothing. */
  makeDirectory: () => Promise<void>;
}

/** @throws ProductError CONFIGURATION */
export async function prepareServer(
  settings: ServerSettings,
  { pageDirectory, children, outputs, makeDirectory }: Surroundings,
): Promise<Prepared> {
  const page = await readPage(pageDirectory);
  const worker = await createAgentBackend(settings, children);
  await makeDirectory();
  const confinement = await confinementOf(settings);
  const tools = worker.tools ?? toolsOf(settings, { confinement, outputs, children });
  const policy = serverPolicy(settings, tools);
  const mcpServers = serversToStart(settings.mcpServers, process.env);
  return { page, worker, confinement, tools, policy, mcpServers };
}

/** Checked before serving: a server that must confine its shell and cannot does not start (X1). */
async function confinementOf({ confineShell, shellNetwork, stateDir }: ServerSettings): Promise<Confinement> {
  return findConfinement({
    confine: confineShell,
    network: shellNetwork,
    // X2: a confined command may read the system, but not the server's token or journal. A check may find no directory.
    hidden: [await realpath(stateDir).catch(() => stateDir)],
  });
}

function toolsOf(
  { grace, passEnv, allowPrivateHost }: ServerSettings,
  made: { confinement: Confinement; outputs: ReadOutput; children: ChildProcesses },
): Tool[] {
  return builtinTools({
    graceMs: grace,
    passEnvironment: passEnv,
    privateHosts: allowPrivateHost,
    ...made,
  });
}
