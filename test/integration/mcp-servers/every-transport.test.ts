/** Tests an MCP server over every transport: stdio, Streamable HTTP, and the older HTTP+SSE. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import type { Question } from '../../../shared/protocol/question.ts';
import { peerSettings, PEER_KINDS } from '../../support/mcp-peer/peer-process.ts';
import { isDown, isReady, mcpStage, type McpStage } from '../../support/mcp-peer/mcp-stage.ts';
import { PEER_TOOLS } from '../../support/mcp-peer/session.ts';

const stopCause = () => ({ reason: 'abort-request' as const, message: 'Aborted on request: wrong page' });
const answered = () => ({ reason: 'abort-request' as const, message: 'Aborted on request: answered' });

/** @returns how many cancellations with this reason the server has received */
async function cancellations({ call }: McpStage, reason: string): Promise<number> {
  const reasons = z.array(z.string()).parse(JSON.parse(await call('cancelled')));
  return reasons.filter((each) => each === reason).length;
}

describe.each(PEER_KINDS)('an MCP server over %s', (kind) => {
  // Tests that neither end the server nor change its tools share it.
  let settings: Record<string, unknown>;
  let stage: McpStage;
  beforeAll(async () => {
    settings = await peerSettings(kind);
    stage = await mcpStage({ peer: settings });
    await stage.status(isReady);
  });

  it('R80 a server runs its tools and returns their results', async () => {
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
    const texts = Array.from({ length: 40 }, (_, n) => `text ${n}`);
    const answers = texts.map((text, n) => stage.call('look', { text, ms: (n * 7) % 40 }));
    const expected = texts.map((text) => expect.stringContaining(`look: ${text} `));
    expect(await Promise.all(answers)).toEqual(expected);
  });

  it('R82 after a broken connection the client reconnects: a running call reports the break, and a read-only call runs again', async () => {
    const own = await mcpStage({ peer: { ...settings, trustHints: true } });
    await own.status(isReady);
    await expect(own.call('drop')).rejects.toThrow(
      /^The connection to the MCP server peer was lost while drop ran: .*\. The outcome of the call is unknown\.$/,
    );
    if (kind === 'stdio') return;
    // A restarted process does not know of the earlier call.
    const said: string[] = [];
    const output = (text: string): void => void said.push(text);
    expect(await own.call('look-and-drop', {}, { output })).toBe('seen at last');
    expect(said.join('')).toMatch(/calling again/);
  });

  it('R83 a server gets a cancellation of a call that the client stops, and answers other calls', async () => {
    const stop = new AbortController();
    const never = stage.call('never', {}, { signal: stop.signal });
    expect(await stage.call('note', { text: 'meanwhile' })).toMatch(/meanwhile/);
    stop.abort();
    await expect(never).rejects.toMatchObject({ name: 'ToolStoppedError', confirmed: false });
    expect(await cancellations(stage, 'The call was stopped.')).toBe(1);
    expect(await stage.status(isReady)).toEqual({ name: 'peer', state: 'ready', tools: PEER_TOOLS });
  });

  it('a server reports progress while it works', async () => {
    const said: string[] = [];
    expect(await stage.call('progress', {}, { output: (text) => void said.push(text) })).toBe('worked');
    expect(said.join('')).toBe('step 1 (25%)\nstep 2 (50%)\n');
  });

  it('after a server announces a change, the client reads its tool list again', async () => {
    const changing = await mcpStage({ peer: await peerSettings(kind) });
    await changing.status(isReady);
    await changing.call('grow');
    await changing.status(({ tools }) => tools === PEER_TOOLS + 1);
    expect(await changing.call('newcomer')).toBe('new here');
    await changing.call('shrink');
    await changing.status(({ tools }) => tools === PEER_TOOLS);
    expect(changing.servers.get('mcp__peer__note')).toBeUndefined();
    expect(changing.servers.whyAbsent('mcp__peer__note')).toBe(
      'The MCP server peer does not have this tool now.',
    );
  });

  it('a server can ask the person behind its call, also while several calls run', async () => {
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
    const other = stage
      .call('never', {}, { signal: stop.signal, stopCause: answered, ask })
      .catch(() => 'stopped');
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
    const asked: string[] = [];
    const askOf = (principal: string) => () => {
      asked.push(principal);
      return Promise.resolve({ type: 'declined' as const, reason: null });
    };
    const stop = new AbortController();
    const bob = { principal: 'bob', ask: askOf('bob'), signal: stop.signal, stopCause: answered };
    const other = stage.call('never', {}, bob).catch(() => 'stopped');
    const answer: unknown = JSON.parse(await stage.call('ask', {}, { ask: askOf('ada') }));
    const known = kind === 'http';
    expect([answer, asked]).toEqual([{ action: known ? 'decline' : 'cancel' }, known ? ['ada'] : []]);
    stop.abort();
    expect(await other).toBe('stopped');
  });

  it('003 a server gets the reason of an abort with notifications/cancelled', async () => {
    const stop = new AbortController();
    const never = stage.call('never', {}, { signal: stop.signal, stopCause });
    expect(await stage.call('note', { text: 'meanwhile' })).toMatch(/meanwhile/);
    stop.abort();
    await expect(never).rejects.toMatchObject({ name: 'ToolStoppedError' });
    expect(await cancellations(stage, stopCause().message)).toBe(1);
  });

  it('002 the task shows the log messages and the partial output of a server while it works', async () => {
    const said: string[] = [];
    expect(await stage.call('say', {}, { output: (text) => void said.push(text) })).toBe('said');
    expect(said.join('')).toBe('line one\nline two\nwarning disk: {"free":1}\n');
  });

  it('002 if a server answers a call after its time limit, the answer is stored and logged', async () => {
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
    const impatient = await mcpStage({ peer: { ...settings, idleTimeout: 2_000 } });
    await impatient.status(isReady);
    await expect(impatient.call('never')).rejects.toThrow(
      'While never ran, the MCP server peer sent nothing for 2 s, its idle time limit. The outcome of the call is unknown.',
    );
    const reason = 'The server sent nothing within the idle time limit of the client.';
    expect(await cancellations(impatient, reason)).toBe(1);
  });

  it('X3 a message of a server that is too long ends only the call or the connection', async () => {
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
      // The long delay saves the starts of more processes with the fault.
      const limits = { firstMs: 4_000, mostMs: 4_000, connectMs: fault === 'silent' ? 4_000 : 45_000 };
      const both = await mcpStage({ bad: await peerSettings(kind, { fault }), good: settings }, limits);
      const { error, tools } = await both.status(isDown, 'bad');
      expect([error, tools]).toEqual([expect.stringMatching(why), 0]);
      await both.status(isReady, 'good');
      expect(await both.call('note', { text: 'fine' }, { server: 'good' })).toMatch(/fine/);
    },
  );
});
