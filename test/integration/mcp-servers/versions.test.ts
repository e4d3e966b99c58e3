/** Tests how the client detects a server's MCP revision and transport. Uses real server processes. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Question } from '../../../shared/protocol/question.ts';
import { modernSettings, peerSettings, startPeer } from '../../support/mcp-peer/peer-process.ts';
import { isDown, isReady, mcpStage, type McpStage, readyPeer } from '../../support/mcp-peer/mcp-stage.ts';

const stopCause = () => ({ reason: 'abort-request' as const, message: 'Aborted on request: wrong page' });

describe.each(['stdio', 'http'] as const)('an MCP server over %s that supports only 2026-07-28', (kind) => {
  let settings: Record<string, unknown>;
  let stage: McpStage;
  beforeAll(async () => {
    settings = await modernSettings(kind);
    stage = await mcpStage({ peer: settings });
    await stage.status(isReady);
  });

  it('R80 the client reaches a server of 2026-07-28, runs its tools and shows its progress', async () => {
    expect(stage.log.join('')).toMatch(/"revision":"2026-07-28"/);
    expect(await stage.call('note', { text: 'hello' })).toBe('note: hello');
    const said: string[] = [];
    expect(await stage.call('steps', {}, { output: (text) => void said.push(text) })).toBe('worked');
    expect(said.join('')).toBe('step 1 (25%)\nstep 2 (50%)\n');
  });

  it('a server of 2026-07-28 asks the person behind its call through the call’s result, also while several calls run', async () => {
    const by = { principal: 'ada', channel: 'test' };
    const questions: string[] = [];
    const askOf = (colour: string) => (question: Question) => {
      questions.push(question.text);
      return Promise.resolve({ type: 'answered' as const, answer: { colour }, by });
    };
    const asks = ['red', 'blue'].map((colour) => stage.call('ask', { text: colour }, { ask: askOf(colour) }));
    const answers = (await Promise.all(asks)).toSorted();
    expect(answers).toEqual([
      'blue: {"action":"accept","content":{"colour":"blue"}}',
      'red: {"action":"accept","content":{"colour":"red"}}',
    ]);
    expect(questions.toSorted()).toEqual([
      'The MCP server peer asks: Which colour for blue?',
      'The MCP server peer asks: Which colour for red?',
    ]);
  });

  it('R83 a server of 2026-07-28 gets the cancellation of a stopped call, and answers other calls', async () => {
    const stop = new AbortController();
    const never = stage.call('never', {}, { signal: stop.signal, stopCause });
    await stage.call('note');
    stop.abort();
    await expect(never).rejects.toMatchObject({ name: 'ToolStoppedError', confirmed: false });
    let cancelled = '[]';
    while (cancelled === '[]') cancelled = await stage.call('cancelled');
    // Over HTTP, a client cancels by closing the response stream, which cannot carry a reason.
    if (kind === 'stdio') expect(JSON.parse(cancelled)).toEqual(['Aborted on request: wrong page']);
  });

  it('after a server of 2026-07-28 announces a change to its subscriber, the client reads its tool list again', async () => {
    const { tools } = await stage.status(isReady);
    // The server acknowledges the subscription after the list is first read.
    for (let known = tools; known === tools;) {
      await stage.call('grow').catch(() => undefined);
      known = (await stage.status(isReady)).tools;
    }
    expect(await stage.call('newcomer')).toBe('new here');
  });

  it('a server of 2026-07-28 gets certain parameters in headers over HTTP, if its schema asks for it', async () => {
    expect(await stage.call('mirrored', { place: 'Zürich' })).toBe(
      kind === 'http' ? 'Zürich: =?base64?WsO8cmljaA==?=' : 'Zürich: no header',
    );
  });

  it('002 the client pings a server of 2026-07-28 with server/discover', async () => {
    const pinging = await mcpStage({ peer: { ...settings, pingInterval: 5, pingTimeout: '10s' } });
    await pinging.status(isReady);
    // The call ends at the next ping. The client sends the second ping only after the answer to the first.
    expect(await pinging.call('discovered')).toBe('discovered');
    expect(await pinging.call('discovered')).toBe('discovered');
    expect(pinging.log.join('')).not.toMatch(/is down|is silent/);
  });
});

describe('an MCP server that supports only an older revision', () => {
  it('R80 if a program exits at server/discover, the client starts it again and sends initialize', async () => {
    const stage = await readyPeer('stdio', { fault: 'exits-at-discover' });
    expect(await stage.call('note', { text: 'hello' })).toMatch(/^note: hello/);
    expect(stage.log.join('')).toMatch(/"revision":"2025-11-25"/);
    // The client remembers the answer, so its next connection does not ask again.
    await expect(stage.call('exit')).rejects.toThrow(/was lost while exit ran/);
    expect(await stage.call('note', { text: 'again' })).toMatch(/^note: again/);
    expect(stage.log.filter((line) => line.includes('needs another transport or revision'))).toHaveLength(1);
  });

  it.each(['stdio', 'http'] as const)(
    'R80 if a server over %s does not answer server/discover, the client sends initialize after a time-out',
    async (kind) => {
      const peer = await peerSettings(kind, { fault: 'silent-at-discover' });
      const stage = await mcpStage({ peer }, { connectMs: 4_000 });
      await stage.status(isReady);
      expect(await stage.call('note', { text: 'hello' })).toMatch(/^note: hello/);
    },
  );

  it.each([400, 404, 405] as const)(
    '002 R81 if a server answers a POST with %i, the client uses HTTP+SSE',
    async (status) => {
      const { url } = await startPeer('sse', `post-${status}`);
      const stage = await mcpStage({ peer: { url } });
      await stage.status(isReady);
      expect(await stage.call('note', { text: 'hello' })).toMatch(/^note: hello/);
    },
  );

  it('002 for a server that supports neither transport, the error gives both reasons', async () => {
    const peer = await startPeer('sse', 'post-405');
    const stage = await mcpStage({ peer: { url: peer.url.replace('/sse', '/messages') } });
    expect((await stage.status(isDown)).error).toMatch(
      /^127\.0\.0\.1:\d+ answered with HTTP 404: no such session; over HTTP\+SSE: 127\.0\.0\.1:\d+ answered with HTTP 404/,
    );
  });
});
