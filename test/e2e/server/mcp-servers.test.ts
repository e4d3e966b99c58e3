/** Tests MCP servers in the configuration file, with a secret in the environment. */
import { expect, it } from '@jest/globals';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { decisionOn } from '../../support/a2a-message.ts';
import { untilMcpServerIsReady } from '../../support/mcp-server-ready.ts';
import { peerProgram, startPeer } from '../../support/mcp-peer/peer-process.ts';
import { plan } from '../../support/offline-plan.ts';
import { jsonOf } from '../../support/rpc-answer.ts';
import { newServerHome } from '../../support/server-program.ts';
import { stage, stageAgain } from '../../support/stage.ts';
import { PEER_TOOLS } from '../../support/mcp-peer/session.ts';

const health = z.object({ mcpServers: z.array(z.object({ name: z.string(), state: z.string() })) });

it('R80 a call of a tool from an MCP server waits through a restart, and runs over a new connection after approval', async () => {
  const home = await newServerHome();
  try {
    const peer = { command: process.execPath, args: [await peerProgram(), 'stdio', '0', '${FAULT:-none}'] };
    const gone = { type: 'sse', url: '${NOWHERE}' };
    const nobody = await startPeer('sse');
    await nobody.kill();
    const config = { server: { mcpServers: { peer, gone } } };
    await writeFile(join(home.stateDir, 'config.json'), JSON.stringify(config));
    const first = await stage({ home, env: { NOWHERE: nobody.url } });
    await untilMcpServerIsReady(first.peer, 'peer');
    const call = { tool: 'mcp__peer__note', input: { text: 'hello' } };
    const { taskId, pending } = await (await first.peer.stream(plan(call, { say: 'Done.' }))).parked();
    expect(pending).toMatchObject([{ tool: 'mcp__peer__note', source: { server: 'peer' } }]);
    await first.server.kill();

    const second = await stageAgain(first);
    await (await second.peer.decide(taskId, [decisionOn(pending, 'approve')])).rest();
    const { overview, text } = await second.peer.task(taskId).then((task) => ({
      overview: task.overview,
      text: JSON.stringify(task),
    }));
    expect(overview.calls).toMatchObject([{ tool: 'mcp__peer__note', state: 'ok' }]);
    expect(text).toContain('note: hello');
    expect(overview.servers).toEqual([
      { name: 'peer', state: 'ready', tools: PEER_TOOLS },
      { name: 'gone', state: 'down', tools: 0, error: `${new URL(nobody.url).host} refused the connection` },
    ]);
    const told = await jsonOf(await second.peer.request('/health', { method: 'GET' }));
    expect(health.parse(told).mcpServers).toMatchObject([{ state: 'ready' }, { state: 'down' }]);
    expect(await second.server.stop()).toBe(0);
  } finally {
    await rm(dirname(home.stateDir), { recursive: true, force: true });
  }
});
