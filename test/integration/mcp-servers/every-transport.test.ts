/** Tests an MCP server over every transport: stdio, Streamable HTTP, and the older HTTP+SSE. */
import { describe, expect, it } from '@jest/globals';
import { Deferred } from '../../../shared/client/core/deferred.ts';
import type { Question } from '../../../shared/protocol/question.ts';
import { peerSettings, PEER_KINDS } from '../../support/mcp-peer/peer-process.ts';
import { isDown, isReady, mcpStage } from '../../support/mcp-peer/mcp-stage.ts';
import { PEER_TOOLS } from '../../support/mcp-peer/session.ts';

const stopCause = () => ({ reason: 'abort-request' as const, message: 'Aborted on request: wrong page' });

describe.each(PEER_KINDS)('an MCP server over %s', (kind) => {
  it('R80 a server runs its tools and returns their results', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    expect(await stage.call('note', { text: 'hello' })).toMatch(/^note: hello/);
    expect(await stage.call('rich')).toBe(
      [
        'words',
        '[image, image/png, 3 bytes, not shown]',
        '[resource file:///a.txt]\ninside',
        '[resource file:///b.txt, b] another',
        '[content of an unknown type]',
        '{\n  "answer": 42\n}',
      ].join('\n'),
    );
    await expect(stage.call('fail')).rejects.toThrow('the disk is full');
  });

  it('R81 a server answers parallel calls, each with its own result', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    const texts = Array.from({ length: 40 }, (_, n) => `text ${n}`);
    const answers = texts.map((text, n) => stage.call('look', { text, ms: (n * 7) % 40 }));
    const expected = texts.map((text) => expect.stringContaining(`look: ${text} `));
    expect(await Promise.all(answers)).toEqual(expected);
  });

  it('R82 after a broken connection the client reconnects: a running call reports the break, and a read-only call runs again', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind, { trustHints: true }) });
    await stage.status(isReady);
    await expect(stage.call('drop')).rejects.toThrow(
      /^The connection to the MCP server peer was lost while drop ran: .*\. The outcome of the call is unknown\.$/,
    );
    if (kind === 'stdio') return;
    // A restarted process does not know of the earlier call.
    const said: string[] = [];
    const output = (text: string): void => void said.push(text);
    expect(await stage.call('look-and-drop', {}, { output })).toBe('seen at last');
    expect(said.join('')).toMatch(/calling again/);
  });

  it('R83 a server gets a cancellation of a call that the client stops, and answers other calls', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    const stop = new AbortController();
    const never = stage.call('never', {}, { signal: stop.signal });
    expect(await stage.call('note', { text: 'meanwhile' })).toMatch(/meanwhile/);
    stop.abort();
    await expect(never).rejects.toMatchObject({ name: 'ToolStoppedError', confirmed: false });
    expect(JSON.parse(await stage.call('cancelled'))).toHaveLength(1);
    expect(await stage.status(isReady)).toEqual({ name: 'peer', state: 'ready', tools: PEER_TOOLS });
  });

  it('a server reports progress while it works', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    const said: string[] = [];
    expect(await stage.call('progress', {}, { output: (text) => void said.push(text) })).toBe('worked');
    expect(said.join('')).toBe('step 1 (25%)\nstep 2 (50%)\n');
  });

  it('after a server announces a change, the client reads its tool list again', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    await stage.call('grow');
    await stage.status(({ tools }) => tools === PEER_TOOLS + 1);
    expect(await stage.call('newcomer')).toBe('new here');
    await stage.call('shrink');
    await stage.status(({ tools }) => tools === PEER_TOOLS);
    expect(stage.servers.get('mcp__peer__note')).toBeUndefined();
    expect(stage.servers.whyAbsent('mcp__peer__note')).toBe(
      'The MCP server peer does not have this tool now.',
    );
  });

  it('a server can ask the person behind its call, also while several calls run', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    const questions: Question[] = [];
    const by = { principal: 'ada', channel: 'test' };
    const ask = (question: Question) => {
      questions.push(question);
      return Promise.resolve({ type: 'answered' as const, answer: { colour: 'blue' }, by });
    };
    const answer = await stage.call('ask', {}, { ask });
    expect(JSON.parse(answer)).toEqual({ action: 'accept', content: { colour: 'blue' } });
    expect(questions).toMatchObject([
      { text: 'The MCP server peer asks: Which colour?', schema: { required: ['colour'] } },
    ]);
    const stop = new AbortController();
    const other = stage.call('never', {}, { signal: stop.signal, ask }).catch(() => 'stopped');
    expect(JSON.parse(await stage.call('ask', { text: 'it' }, { ask }))).toMatchObject({ action: 'accept' });
    // Only with Streamable HTTP does the server name the call of a question.
    expect(questions[1]?.text).toBe(
      kind === 'http'
        ? 'The MCP server peer asks: Which colour?'
        : 'The MCP server peer asks: Which colour?\n\nThe server runs 2 calls and does not say which one asks:\n' +
            '- never {}\n- ask {"text":"it"}',
    );
    stop.abort();
    expect(await other).toBe('stopped');
  });

  it('while a server runs calls of two principals, it cannot ask a person unless it names the call', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    const asked: string[] = [];
    const askOf = (principal: string) => () => {
      asked.push(principal);
      return Promise.resolve({ type: 'declined' as const, reason: null });
    };
    const stop = new AbortController();
    const bob = { principal: 'bob', ask: askOf('bob'), signal: stop.signal };
    const other = stage.call('never', {}, bob).catch(() => 'stopped');
    const answer: unknown = JSON.parse(await stage.call('ask', {}, { ask: askOf('ada') }));
    const known = kind === 'http';
    expect([answer, asked]).toEqual([{ action: known ? 'decline' : 'cancel' }, known ? ['ada'] : []]);
    stop.abort();
    expect(await other).toBe('stopped');
  });

  it('003 a server gets the reason of an abort with notifications/cancelled', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    const stop = new AbortController();
    const never = stage.call('never', {}, { signal: stop.signal, stopCause });
    expect(await stage.call('note', { text: 'meanwhile' })).toMatch(/meanwhile/);
    stop.abort();
    await expect(never).rejects.toMatchObject({ name: 'ToolStoppedError' });
    expect(JSON.parse(await stage.call('cancelled'))).toEqual(['Aborted on request: wrong page']);
  });

  it('002 the task shows the log messages and the partial output of a server while it works', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    const said: string[] = [];
    expect(await stage.call('say', {}, { output: (text) => void said.push(text) })).toBe('said');
    expect(said.join('')).toBe('line one\nline two\nwarning disk: {"free":1}\n');
  });

  it('002 if a server answers a call after its time limit, the answer is stored and logged', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    const stop = new AbortController();
    const late = new Deferred<string>();
    const slow = stage.call(
      'slow',
      { text: 'page 1' },
      {
        signal: stop.signal,
        stopCause: () => ({ reason: 'timeout' as const, message: 'Stopped after its time limit of 90 s.' }),
        answeredLate: (text) => late.resolve(text),
      },
    );
    expect(await stage.call('note', { text: 'meanwhile' })).toMatch(/meanwhile/);
    stop.abort();
    await expect(slow).rejects.toMatchObject({ name: 'ToolStoppedError', confirmed: false });
    await stage.call('release');
    expect(await late.promise).toBe('done at last: page 1');
    expect(stage.log.join('')).toMatch(/"tool":"slow".*"afterMs":\d+.*has answered a stopped call/);
  });

  it('002 a server that sends nothing for the idle time-out of a call gets a cancellation of the call', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind, { idleTimeout: 2_000 }) });
    await stage.status(isReady);
    await expect(stage.call('never')).rejects.toThrow(
      'While never ran, the MCP server peer sent nothing for 2 s, its idle time limit. The outcome of the call is unknown.',
    );
    expect(JSON.parse(await stage.call('cancelled'))).toEqual([
      'The server sent nothing within the idle time limit of the client.',
    ]);
  });

  it('X3 a message of a server that is too long ends only the call or the connection', async () => {
    const stage = await mcpStage({ peer: await peerSettings(kind) });
    await stage.status(isReady);
    await expect(stage.call('flood')).rejects.toThrow(/MCP server peer.*more than 16 M/);
    expect(await stage.call('note', { text: 'after' })).toMatch(/after/);
  });

  it.each([
    ['silent', /^did not answer within 4 s/],
    ['endless-pages', /list of tools has more than 200 pages/],
    ['page-loop', /repeats a page/],
  ] as const)(
    'X3 a server with the fault "%s" has the status "down" with a reason, and other servers work',
    async (fault, why) => {
      const [bad, good] = [await peerSettings(kind, { fault }), await peerSettings(kind)];
      const limits = fault === 'silent' ? { connectMs: 4_000 } : {};
      const stage = await mcpStage({ bad, good }, limits);
      const { error, tools } = await stage.status(isDown, 'bad');
      expect([error, tools]).toEqual([expect.stringMatching(why), 0]);
      await stage.status(isReady, 'good');
      expect(await stage.call('note', { text: 'fine' }, { server: 'good' })).toMatch(/fine/);
    },
  );
});
