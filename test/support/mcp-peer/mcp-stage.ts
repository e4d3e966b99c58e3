/** Starts MCP servers as the agent does, with short time limits. They close after the test, or after the file if a `beforeAll` started them. */
import { pino } from 'pino';
import type { McpServerTimings } from '../../../a2a-server/mcp-servers/mcp-server.ts';
import { startMcpServers, type McpServers } from '../../../a2a-server/mcp-servers/mcp-servers.ts';
import { mcpToolName } from '../../../a2a-server/mcp-servers/tool-name.ts';
import type { ToolRun } from '../../../a2a-server/tools/tool.ts';
import { openWorkspace } from '../../../a2a-server/tools/workspace/workspace.ts';
import type { ToolServerView } from '../../../shared/protocol/tool-approval.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { cleanUpLater } from '../clean-up.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { toolRun } from '../tool-run.ts';
import { entryOf, peerSettings } from './peer-process.ts';

const QUICK: McpServerTimings = { connectMs: 20_000, firstMs: 5, mostMs: 20, awayMs: 20_000 };

export interface McpStage {
  servers: McpServers;
  /** The log lines. */
  log: string[];
  /** Calls a tool of a server, as an approved call does. @returns the text for the model */
  call: (tool: string, input?: object, run?: Partial<ToolRun> & { server?: string }) => Promise<string>;
  /** Waits until the status of a server matches. @returns the status */
  status: (is: (status: ToolServerView) => boolean, server?: string) => Promise<ToolServerView>;
  close: () => Promise<void>;
}

/** A person who declines every question. */
const ask = () => Promise.resolve({ type: 'declined' as const, reason: null });

/** Starts servers by name. Resolves after the first attempt to reach each of them. */
export async function mcpStage(
  settings: Record<string, Record<string, unknown>>,
  limits: Partial<McpServerTimings> = {},
): Promise<McpStage> {
  const log: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) });
  const entries = new Map(Object.entries(settings).map(([name, entry]) => [name, entryOf(entry)]));
  const servers = startMcpServers(entries, {
    clock: systemClock,
    log: logger,
    graceMs: 2_000,
    environment: process.env,
    limits: { ...QUICK, ...limits },
  });
  const workspace = await openWorkspace(await temporaryDirectory());
  const stage: McpStage = {
    servers,
    log,
    call: async (name, input = {}, { server = 'peer', ...run } = {}) => {
      const tool = servers.get(mcpToolName(server, name));
      if (tool === undefined)
        throw new Error(servers.whyAbsent(mcpToolName(server, name)) ?? `no tool ${name}`);
      const { signal } = new AbortController();
      return (await tool.run(input, toolRun({ workspace, signal, ask, ...run }))).text;
    },
    status: async (is, server = 'peer') => {
      for (;;) {
        const found = servers.statuses().find((status) => status.name === server && is(status));
        if (found !== undefined) return found;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
    close: () => servers.close(),
  };
  cleanUpLater(stage.close);
  await servers.settled(new AbortController().signal);
  return stage;
}

/** Starts the server `peer`, and waits until it is ready. */
export async function readyPeer(...peer: Parameters<typeof peerSettings>): Promise<McpStage> {
  const stage = await mcpStage({ peer: await peerSettings(...peer) });
  await stage.status(isReady);
  return stage;
}

export const isReady = ({ state }: ToolServerView): boolean => state === 'ready';
export const isDown = ({ state }: ToolServerView): boolean => state === 'down';
