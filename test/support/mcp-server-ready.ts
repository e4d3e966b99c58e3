/** Waits until an MCP server of an A2A server is ready. */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { A2aPeer } from './a2a-peer.ts';
import { jsonOf } from './rpc-answer.ts';

const health = z.object({ mcpServers: z.array(z.object({ name: z.string(), state: z.string() })) });

/** The interval in which the test asks again, because no event announces the state. */
const ASK_AGAIN_MS = 20;

/**
 * The first tasks of a server wait five seconds for its MCP servers. On a busy machine, an MCP server may need longer,
 * and the task would begin without its tools.
 */
export async function untilMcpServerIsReady(peer: A2aPeer, name: string): Promise<void> {
  const over = await peer.connect();
  for (;;) {
    const { mcpServers } = health.parse(await jsonOf(await peer.request('/health', { method: 'GET', over })));
    if (mcpServers.some((server) => server.name === name && server.state === 'ready')) break;
    await pause(ASK_AGAIN_MS);
  }
  over.destroy();
}
