/** Tests dead connections that no side has closed, and sessions that the server has forgotten. */
import { describe, expect, it } from '@jest/globals';
import { startPeer } from '../../support/mcp-peer/peer-process.ts';
import { isDown, isReady, mcpStage, readyPeer } from '../../support/mcp-peer/mcp-stage.ts';

const PINGS = { pingInterval: 20, pingTimeout: 1_000 };

describe.each(['http', 'sse'] as const)('a dead connection to an MCP server over %s', (kind) => {
  it('002 a server that does not answer pings has the status "down", and the status "ready" once it answers again', async () => {
    const peer = await startPeer(kind);
    const settings = { type: kind, url: peer.url, ...PINGS, connectTimeout: '2s' };
    const stage = await mcpStage({ peer: settings });
    await stage.status(isReady);
    peer.freeze();
    expect((await stage.status(isDown)).error).toMatch(/^did not answer a ping within 1 s$/);
    await peer.kill();
    await peer.again();
    await stage.status(isReady);
    expect(await stage.call('note', { text: 'back' })).toMatch(/^note: back/);
  });

  it('002 R82 if the server has forgotten the MCP session, the client opens a new session, and makes the call once', async () => {
    const peer = await startPeer(kind);
    const stage = await mcpStage({ peer: { type: kind, url: peer.url } });
    await stage.status(isReady);
    await stage.call('note', { text: 'before' });
    await peer.forget();
    expect(await stage.call('note', { text: 'after' })).toMatch(/^note: after/);
    expect((await peer.seen()).calls).toEqual({ note: 2 });
    expect(stage.log.join('')).toMatch(/"error":"has lost the session"/);
  });
});

describe('a dead connection to an MCP server', () => {
  it('002 a stdio program that stops responding is ended and restarted', async () => {
    const stage = await readyPeer('stdio', PINGS);
    const pid = Number(/\(pid (\d+)\)/.exec(await stage.call('note'))?.[1]);
    process.kill(pid, 'SIGSTOP');
    expect((await stage.status(isDown)).error).toMatch(/^did not answer a ping within 1 s/);
    await stage.status(isReady);
    expect(await stage.call('note')).not.toContain(`pid ${pid}`);
  });

  it('002 R82 if the server answers 400 for a forgotten MCP session, the client opens a new session', async () => {
    const peer = await startPeer('http', 'forgotten-400');
    const stage = await mcpStage({ peer: { url: peer.url } });
    await stage.status(isReady);
    await peer.forget();
    expect(await stage.call('note', { text: 'after' })).toMatch(/^note: after/);
    expect((await peer.seen()).calls).toEqual({ note: 1 });
  });

  it('002 R82 if the server loses the MCP session at each call, the client makes the call twice', async () => {
    const peer = await startPeer('http', 'calls-404');
    const stage = await mcpStage({ peer: { url: peer.url } });
    await stage.status(isReady);
    await expect(stage.call('note')).rejects.toThrow(/answered with HTTP 404: no such session/);
    expect((await peer.seen()).calls).toEqual({ refused: 2 });
  });

  it('R82 a call that gets 400 with an error about another kind of session does not count as a dead connection', async () => {
    const peer = await startPeer('http', 'calls-400');
    const stage = await mcpStage({ peer: { url: peer.url } });
    await stage.status(isReady);
    await expect(stage.call('note')).rejects.toThrow(/reports: .*HTTP 400: .*the chat session is over/);
    expect(await peer.seen()).toMatchObject({ calls: { refused: 1 }, sessions: 1 });
  });

  it('002 a server that does not answer pings while it works on a stopped call stays connected', async () => {
    const stage = await readyPeer('stdio', PINGS);
    const pid = Number(/\(pid (\d+)\)/.exec(await stage.call('note'))?.[1]);
    const stop = new AbortController();
    const slow = stage.call('slow', {}, { signal: stop.signal }).catch(() => 'stopped');
    await stage.call('note');
    stop.abort();
    expect(await slow).toBe('stopped');
    process.kill(pid, 'SIGSTOP');
    const { state } = await stage.status(({ error }) => error?.includes('did not answer a ping') === true);
    process.kill(pid, 'SIGCONT');
    expect(state).toBe('ready');
  });

  it('002 a call keeps running while its server does not answer pings, and the status reports the silence', async () => {
    const stage = await readyPeer('stdio', PINGS);
    const pid = Number(/\(pid (\d+)\)/.exec(await stage.call('note'))?.[1]);
    const slow = stage.call('slow', { text: 'page 1' });
    await stage.call('note');
    process.kill(pid, 'SIGSTOP');
    const { state } = await stage.status(({ error }) => error?.includes('did not answer a ping') === true);
    expect(state).toBe('ready');
    process.kill(pid, 'SIGCONT');
    await stage.status(({ error }) => error === undefined);
    await stage.call('release');
    expect(await slow).toBe('done at last: page 1');
  });
});
