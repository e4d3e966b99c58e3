/** Starts the test MCP server in its own process. The process ends after the test, or after the file if a `beforeAll` started it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import {
  mcpServerConfigsSchema,
  type McpServerConfig,
} from '../../../a2a-server/mcp-servers/server-settings.ts';
import { bundleProgram } from '../../../scripts/bundle-program.mjs';
import { cleanUpLater } from '../clean-up.ts';
import type { Fault } from './session.ts';

type PeerKind = 'stdio' | 'http' | 'sse';
export const PEER_KINDS: readonly PeerKind[] = ['stdio', 'http', 'sse'];

const seen = z.object({
  streams: z.number(),
  open: z.number(),
  sessions: z.number(),
  posts: z.number(),
  brokenPipes: z.number(),
  calls: z.record(z.string(), z.number()),
});

interface RemotePeer {
  url: string;
  /** The server's record of its connections. */
  seen: () => Promise<z.infer<typeof seen>>;
  /** Makes the server forget every session. Its streams stay open. */
  forget: () => Promise<void>;
  /** Makes the server refuse connections. Its streams stay open. */
  refuse: () => Promise<void>;
  /** Stops the process without ending it. */
  freeze: () => void;
  /** Sends SIGKILL. */
  kill: () => Promise<void>;
  /** Starts a new process at the same address, possibly with another fault. */
  again: (fault?: Fault) => Promise<RemotePeer>;
}

/** Starts a server over HTTP. */
export async function startPeer(kind: 'http' | 'sse', fault: Fault = 'none', port = 0): Promise<RemotePeer> {
  const { child, port: listens } = await listening(await peerProgram(), [kind, String(port), fault]);
  const origin = `http://127.0.0.1:${listens}`;
  return {
    url: `${origin}/${kind === 'sse' ? 'sse' : 'mcp'}`,
    seen: async () => seen.parse(await (await fetch(`${origin}/seen`)).json()),
    forget: async () => void (await fetch(`${origin}/forget`)),
    refuse: async () => void (await fetch(`${origin}/refuse`)),
    freeze: () => void child.kill('SIGSTOP'),
    kill: () => kill(child),
    again: (other = fault) => startPeer(kind, other, listens),
  };
}

/** Starts a program that prints its address as its first line. */
async function listening(program: string, args: string[]): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanUpLater(() => kill(child));
  const [line] = z
    .tuple([z.string()])
    .rest(z.unknown())
    .parse(await once(createInterface({ input: child.stdout }), 'line'));
  return { child, port: z.object({ port: z.number() }).parse(JSON.parse(line)).port };
}

/** @returns the settings of the server. Starts the server if it speaks HTTP. */
export async function peerSettings(
  kind: PeerKind,
  { fault = 'none', ...more }: Record<string, unknown> & { fault?: Fault } = {},
): Promise<Record<string, unknown>> {
  if (kind === 'stdio')
    return { command: process.execPath, args: [await peerProgram(), 'stdio', '0', fault], ...more };
  return { type: kind, url: (await startPeer(kind, fault)).url, ...more };
}

/** @returns the settings of a server that speaks only MCP 2026-07-28. Starts the server if it speaks HTTP. */
export async function modernSettings(kind: 'stdio' | 'http'): Promise<Record<string, unknown>> {
  const program = await bundleProgram('test/support/mcp-peer/modern-program.ts', { withPackages: true });
  if (kind === 'stdio') return { command: process.execPath, args: [program, 'stdio'] };
  const { port } = await listening(program, [kind, '0']);
  return { url: `http://127.0.0.1:${port}/mcp` };
}

/** The entry after the settings are parsed. */
export function entryOf(settings: Record<string, unknown>): McpServerConfig {
  const { peer } = mcpServerConfigsSchema.parse({ peer: settings });
  if (peer === undefined) throw new Error('the settings are lost');
  return peer;
}

/** The path of the bundled program. */
export const peerProgram = (): Promise<string> =>
  bundleProgram('test/support/mcp-peer/program.ts', { withPackages: true });

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
