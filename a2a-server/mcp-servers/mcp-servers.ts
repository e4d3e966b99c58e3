import { unlessAborted } from '../../shared/runtime/abort.ts';
import { startTimeout } from '../runtime/timeout.ts';
import type { ToolServerView } from '../../shared/protocol/tool-approval.ts';
import { NO_CHILD_RECORDS, type ChildProcessRecords } from '../processes/child-process-records.ts';
import type { Tool } from '../tools/tool.ts';
import type { ToolSupply } from '../tools/toolbox.ts';
import { DEFAULT_MCP_SERVER_TIMINGS, McpServer, type McpServerTimings } from './mcp-server.ts';
import type { McpServerConfig } from './server-settings.ts';
import { mcpToolName } from './tool-name.ts';
import type { McpTransportContext } from './transports/server-transport.ts';

/**
 * The maximum time that a task's first turn waits after the start of the MCP servers. The tools of a slower server are
 * available in a later turn.
 */
const FIRST_TURN_MS = 5_000;

interface McpServersOptions extends Omit<McpTransportContext, 'child'> {
  /** Records the processes of stdio servers. After a crash of `a2a-server`, its next start can end them. */
  children?: ChildProcessRecords;
  limits?: Partial<McpServerTimings>;
}

export interface McpServers extends ToolSupply {
  statuses(): ToolServerView[];
  /** Closes all servers. Resolves when no process, socket or timer is left. */
  close(): Promise<void>;
}

/** Starts to connect to the servers and returns at once. */
export function startMcpServers(
  entries: ReadonlyMap<string, McpServerConfig>,
  { limits, children = NO_CHILD_RECORDS, ...options }: McpServersOptions,
): McpServers {
  let tools: ReadonlyMap<string, Tool> | undefined;
  const context = {
    ...options,
    children,
    limits: { ...DEFAULT_MCP_SERVER_TIMINGS, ...limits },
    onChange: () => (tools = undefined),
  };
  const servers = [...entries].map(([name, entry]) => new McpServer(name, entry, context));
  const current = (): ReadonlyMap<string, Tool> => (tools ??= byName(servers));
  const tried = Promise.all(servers.map((server) => server.start())).then(() => undefined);
  const firstTurn = startTimeout(options.clock, FIRST_TURN_MS);
  const settled = unlessAborted(tried, firstTurn.signal)
    .catch(() => undefined)
    .finally(firstTurn.clear);
  let over = false;
  void settled.then(() => (over = true));
  return {
    get: (name) => current().get(name),
    tools: () => [...current().values()],
    settled: (signal) => (over ? settled : unlessAborted(settled, signal).catch(() => undefined)),
    whyAbsent: (name) => whyAbsent(name, servers),
    statuses: () => servers.map(({ status }) => status),
    close: async () => {
      firstTurn.clear();
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

function byName(servers: readonly McpServer[]): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  // A tool name contains its server's name, so equal names are very rare. The first tool is then used.
  for (const tool of servers.flatMap((server) => server.tools))
    if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return tools;
}

function whyAbsent(name: string, servers: readonly McpServer[]): string | undefined {
  const server = servers.find((it) => name.startsWith(mcpToolName(it.name, '').replace(/_[0-9a-f]{8}$/, '')));
  if (server === undefined) return undefined;
  const { state, error } = server.status;
  switch (state) {
    case 'ready':
      return `The MCP server ${server.name} does not have this tool now.`;
    case 'starting':
      return `The MCP server ${server.name} is still starting; its tools are not known yet.`;
    case 'down':
      return `The MCP server ${server.name} is not connected: ${error ?? 'it is down'}. The server retries automatically; call the tool again later.`;
  }
}
