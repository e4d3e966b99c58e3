/** Streamable HTTP: forgotten sessions and closed sockets. */
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
  it('R82 a server gets a new session after its restart: a request that has not reached it is sent again, once', async () => {
    const { peer, stage } = await overHttp();
    expect(await stage.call('note', { text: 'before' })).toMatch(/before/);
    await peer.kill();
    const next = await peer.again();
    expect(await stage.call('note', { text: 'after' })).toMatch(/after/);
    expect(await next.seen()).toMatchObject({ sessions: 1, calls: { note: 1 } });
  });

  it('R83 the client holds no socket for a call that was given up, and closing leaves no socket', async () => {
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
