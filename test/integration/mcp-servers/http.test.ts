/** Streamable HTTP: sessions that are forgotten, and sockets that are let go of. */
import { describe, expect, it } from '@jest/globals';
import { startPeer } from '../../support/mcp-peer/peer-process.ts';
import { isReady, mcpStage } from '../../support/mcp-peer/mcp-stage.ts';

async function overHttp() {
  const peer = await startPeer('http');
  const stage = await mcpStage({ peer: { url: peer.url } });
  await stage.status(isReady);
  return { peer, stage };
}

describe('an MCP server over Streamable HTTP', () => {
  it('R82 that has been started again is called in a session of its own: what has not reached it is sent anew, and once', async () => {
    const { peer, stage } = await overHttp();
    expect(await stage.call('note', { text: 'before' })).toMatch(/before/);
    await peer.kill();
    const next = await peer.again();
    expect(await stage.call('note', { text: 'after' })).toMatch(/after/);
    expect(await next.seen()).toMatchObject({ sessions: 1, calls: { note: 1 } });
  });

  it('R83 a call that is given up holds no socket, and closing leaves none', async () => {
    const { peer, stage } = await overHttp();
    const stop = new AbortController();
    const never = stage.call('never', {}, { signal: stop.signal }).catch(() => 'stopped');
    while ((await peer.seen()).calls['never'] !== 1);
    const before = (await peer.seen()).open;
    stop.abort();
    expect(await never).toBe('stopped');
    while ((await peer.seen()).open >= before);
    expect(JSON.parse(await stage.call('cancelled'))).toHaveLength(1);
    await stage.close();
    while ((await peer.seen()).open > 0);
  });
});
