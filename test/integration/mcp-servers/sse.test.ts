/**
 * Tests the older HTTP+SSE. The server answers 202 first and sends the result later, drops its stream, and restarts.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startPeer } from '../../support/mcp-peer/peer-process.ts';
import { isDown, isReady, mcpStage } from '../../support/mcp-peer/mcp-stage.ts';
import { numberOfRuns } from '../../support/property-runs.ts';
import { PEER_TOOLS } from '../../support/mcp-peer/session.ts';

async function overSse(limits: Parameters<typeof mcpStage>[1] = {}) {
  const peer = await startPeer('sse');
  const stage = await mcpStage({ peer: { type: 'sse', url: peer.url, trustHints: true } }, limits);
  await stage.status(isReady);
  return { peer, stage };
}

describe('an MCP server over HTTP+SSE', () => {
  it('R81 the client keeps one stream for its whole lifetime, and every request gets its response', async () => {
    const { peer, stage } = await overSse();
    for (let n = 0; n < 20; n += 1) await stage.call('note', { text: String(n) });
    expect(await peer.seen()).toMatchObject({ streams: 1, open: 1, brokenPipes: 0 });
    await stage.close();
    // The server notices the closed connection a moment later.
    while ((await peer.seen()).open > 0);
    expect(await peer.seen()).toMatchObject({ streams: 1, open: 0, brokenPipes: 0 });
  });

  it('R81 the client matches parallel answers to their calls in any order', async () => {
    const { peer, stage } = await overSse();
    const call = fc.record({ text: fc.string({ maxLength: 40 }), ms: fc.integer({ min: 0, max: 15 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 30 }), async (calls) => {
        const answers = await Promise.all(calls.map((input) => stage.call('look', input)));
        expect(answers.map((answer) => answer.replace(/ \(pid \d+\)$/, ''))).toEqual(
          calls.map(({ text }) => `look: ${text}`),
        );
      }),
      { numRuns: numberOfRuns(20) },
    );
    expect((await peer.seen()).streams).toBe(1);
  });

  it('R82 after a kill and a restart of the server at the same address, the client makes a new connection and handshake', async () => {
    const { peer, stage } = await overSse();
    const lost = stage.call('never');
    const again = stage.call('look', { text: 'still there?', ms: 500 });
    while (((await peer.seen()).calls['look'] ?? 0) === 0);
    await peer.kill();
    await expect(lost).rejects.toThrow(/was lost while never ran: (ended|broke)/);
    expect(await stage.status(isDown)).toMatchObject({ state: 'down', tools: PEER_TOOLS });
    const next = await peer.again();
    // A read-only call waits until the server has restarted, and then runs again.
    expect(await again).toMatch(/^look: still there\?/);
    expect(await stage.call('note', { text: 'hello again' })).toMatch(/hello again/);
    expect(await next.seen()).toMatchObject({ streams: 1, brokenPipes: 0 });
  });

  it('R82 if the server does not come back, a call fails within its wait time', async () => {
    const { peer, stage } = await overSse({ awayMs: 50 });
    await peer.kill();
    await stage.status(isDown);
    await expect(stage.call('note')).rejects.toThrow(
      /^The MCP server peer is not connected: .*\. The server retries automatically; call the tool again later\.$/,
    );
  });

  it('R82 if the address refuses the POST of a call, the client connects again, and makes the call once', async () => {
    const { peer, stage } = await overSse();
    await peer.refuse();
    const call = stage.call('note', { text: 'after' });
    await stage.status(isDown);
    const next = await peer.again();
    expect(await call).toMatch(/^note: after/);
    expect((await next.seen()).calls).toEqual({ note: 1 });
  });

  it('for a wrong address, the error says what is wrong', async () => {
    const [peer, gone] = [await startPeer('sse'), await startPeer('sse')];
    await gone.kill();
    const other = await startPeer('http');
    const stage = await mcpStage({
      gone: { type: 'sse', url: gone.url },
      elsewhere: { type: 'sse', url: other.url },
      seen: { type: 'sse', url: peer.url.replace(/sse$/, 'seen') },
    });
    const errorOf = async (server: string) => (await stage.status(isDown, server)).error;
    expect(await errorOf('gone')).toMatch(/^127\.0\.0\.1:\d+ refused the connection$/);
    expect(await errorOf('elsewhere')).toMatch(/answered with HTTP 404: no such session$/);
    expect(await errorOf('seen')).toMatch(/answered with no content type, not with an event stream$/);
  });
});
