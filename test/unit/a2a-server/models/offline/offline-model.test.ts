import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { languageModel } from '../../../../../a2a-server/models/language-model.ts';
import type { ConversationStep, ModelCall, ModelEvent } from '../../../../../a2a-server/models/model.ts';
import { offlineModel } from '../../../../../a2a-server/models/offline/offline-model.ts';
import type { TurnEnd } from '../../../../../a2a-server/task/events.ts';
import { TOOL } from '../../../../../a2a-server/models/offline/tool-names.ts';

const model = languageModel({ id: 'offline', load: () => Promise.resolve(offlineModel) });
const DENIED = 'The person denied this call; it was not run. Reason: too risky';

interface Turn {
  texts: string[];
  text: string;
  calls: ModelCall[];
  end: TurnEnd;
}
type Answer = (call: ModelCall) => { text: string; isError: boolean };

async function turnAfter(
  conversation: ConversationStep[],
  offered: readonly string[] = Object.values(TOOL),
): Promise<Turn> {
  const tools = offered.map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
  const turn: Turn = { texts: [], text: '', calls: [], end: 'stop' };
  const { signal } = new AbortController();
  const request = { instructions: 'Help.', conversation, exchanges: [], tools, signal };
  for await (const event of model.stream(request)) take(turn, event);
  return { ...turn, text: turn.texts.join('') };
}

function take(turn: Turn, event: ModelEvent): void {
  if (event.type === 'text') turn.texts.push(event.text);
  else if (event.type === 'finish') turn.end = event.end;
  else if (event.type === 'call')
    turn.calls.push({ modelCallId: event.modelCallId, tool: event.tool, input: inputOf(event.input) });
}

function inputOf(input: unknown): Record<string, unknown> {
  if (typeof input !== 'object' || input === null) throw new Error('an input is an object');
  return { ...input };
}

function ok(text = 'ok'): Answer {
  return () => ({ text, isError: false });
}

/** Lets the model work until it ends, as the executor would. Adds to the conversation. */
async function work(
  conversation: ConversationStep[],
  answer: Answer = ok(),
  offered?: string[],
): Promise<Turn[]> {
  const turns: Turn[] = [];
  for (;;) {
    const turn = await turnAfter(conversation, offered);
    turns.push(turn);
    conversation.push({ role: 'assistant', text: turn.text, calls: turn.calls });
    if (turn.calls.length === 0) return turns;
    conversation.push(resultsOf(turn, answer));
  }
}

function resultsOf(turn: Turn, answer: Answer): ConversationStep {
  return {
    role: 'tool',
    results: turn.calls.map((call) => ({ modelCallId: call.modelCallId, tool: call.tool, ...answer(call) })),
  };
}

function user(text: string): ConversationStep {
  return { role: 'user', text };
}

function callsOf(turns: readonly Turn[]): [string, Record<string, unknown>][] {
  return turns.flatMap((turn) =>
    turn.calls.map((call): [string, Record<string, unknown>] => [call.tool, call.input]),
  );
}

const HELLO: [string, Record<string, unknown>] = ['write-file', { path: 'test.md', content: 'hello' }];

describe('a task', () => {
  test('Create test.md with hello is one call, and then the end', async () => {
    const turns = await work([user('Create test.md with hello')]);
    expect(callsOf(turns)).toEqual([HELLO]);
    expect(turns.map((turn) => turn.end)).toEqual(['tool-calls', 'stop']);
    expect(turns.map((turn) => turn.text)).toEqual(['I will write test.md.', 'Done: write test.md.']);
  });

  test('several steps are one turn each, in order, and results that were asked for are repeated', async () => {
    const turns = await work([user('create a.md with x then read a.md; run `npm test`')], (call) => ({
      text: `result of ${call.tool}`,
      isError: false,
    }));
    expect(callsOf(turns).map(([tool]) => tool)).toEqual(['write-file', 'read-file', 'run-shell-command']);
    expect(turns[2]?.text).toContain('result of read-file');
    expect(turns[3]?.text).toContain('result of run-shell-command');
    expect(turns[3]?.text).toContain('Done:\n- write a.md\n- read a.md\n- run `npm test`');
  });

  test('a plan asks for several calls in one turn', async () => {
    const together = [
      { tool: 'read-file', input: { path: 'a' } },
      { tool: 'read-file', input: { path: 'b' } },
    ];
    const turns = await work([user(JSON.stringify({ plan: [{ together }, { say: 'and done' }] }))]);
    expect(turns.map((turn) => turn.calls.map((call) => call.input))).toEqual([
      [{ path: 'a' }, { path: 'b' }],
      [],
    ]);
    expect(new Set(turns[0]?.calls.map((call) => call.modelCallId)).size).toBe(2);
    expect(turns[1]?.text).toContain('and done');
  });

  test('text comes word by word, and a repeated text in exactly as many chunks', async () => {
    const [said] = await work([user('say "one two three"')]);
    expect(said?.texts).toEqual(['one ', 'two ', 'three']);
    const [repeated] = await work([user('{"plan": [{"say": "chunk of text ", "repeat": 1000}]}')]);
    expect(repeated?.texts).toEqual(Array.from({ length: 1000 }, () => 'chunk of text '));
  });

  test('the same conversation gives the same turn', async () => {
    const conversation = [user('create a.md with x then read a.md')];
    expect(await turnAfter(conversation)).toEqual(await turnAfter(conversation));
  });
});

describe('what goes wrong', () => {
  test('a denied step is said with its reason, what needs it is not tried, and the rest is done', async () => {
    const conversation = [user('create a.md with x\nappend y to a.md\nrun `cat a.md`\ncreate b.md with z')];
    const turns = await work(conversation, (call) =>
      call.input.path === 'a.md' ? { text: DENIED, isError: true } : { text: 'ok', isError: false },
    );
    expect(callsOf(turns).map(([tool, input]) => [tool, input.path])).toEqual([
      ['write-file', 'a.md'],
      ['write-file', 'b.md'],
    ]);
    expect(turns[1]?.text).toContain('Denied: write a.md.');
    expect(turns[1]?.text).toContain('too risky');
    expect(turns[1]?.text).toContain(
      'Not tried: append to a.md, because an earlier change of a.md was not made.',
    );
    const end = turns[2]?.text ?? '';
    expect(end).toContain('Done: write b.md.');
    expect(end).toContain('- write a.md (denied)');
    expect(end).toContain('- append to a.md (not tried');
    expect(end).toContain('- run `cat a.md` (not tried');
  });

  test('what has failed, or was stopped on the way, is never said not to have been done', async () => {
    const text = 'Aborted on request: enough\n\nOutput by then:\nhalf of it';
    const turns = await work([user('run `make`')], () => ({ text, isError: true }));
    expect(turns[1]?.text).toContain('Failed: run `make`. Aborted on request: enough');
    expect(turns[1]?.text).toMatch(/half of it\s+Failed: run `make`\.$/);
    expect(turns[1]?.text).not.toMatch(/nothing was done|not done/i);
  });

  test('a file that is written after all is good again', async () => {
    let first = true;
    const turns = await work([user('create a.md with x; create a.md with y; read a.md')], () => {
      const isError = first;
      first = false;
      return { text: isError ? 'disk full' : 'ok', isError };
    });
    expect(callsOf(turns).map(([tool]) => tool)).toEqual(['write-file', 'write-file', 'read-file']);
    expect(turns[1]?.text).toContain('Failed: write a.md. disk full');
  });

  test('a tool that is not offered is said to be missing, and is not asked for', async () => {
    const turns = await work([user('create a.md with x then list')], ok(), [TOOL.list, TOOL.read]);
    expect(callsOf(turns)).toEqual([['list-files', {}]]);
    expect(turns[0]?.text).toContain(
      'Not tried: write a.md, because the tool write-file is not offered here.',
    );
    expect(turns[1]?.text).toContain('Not done: write a.md');
  });

  test('what was not understood is said before anything runs and again at the end', async () => {
    const turns = await work([user('dance a little then list')]);
    expect(turns[0]?.text).toContain('I did not understand “dance a little”: it starts with no verb I know.');
    expect(turns[0]?.text).toContain('- create test.md with hello');
    expect(turns[1]?.text).toContain('“dance a little” (not understood)');
    expect(turns[1]?.text).not.toContain('I did not understand');
  });

  test('a message without a step says what this model is and what it understands', async () => {
    const [turn] = await work([user('How are you today?')]);
    expect(turn?.calls).toEqual([]);
    expect(turn?.text).toContain('I am the offline model');
    expect(turn?.text).toContain('How are you today?');
    expect(turn?.text).toContain('JSON plan');
  });

  test.each(['', '{"plan": []}', '{"plan": [{"say": ""}]}'])(
    '%j is answered with words all the same',
    async (text) => {
      const [turn] = await work([user(text)]);
      expect(turn?.text).toContain('nothing to do');
    },
  );
});

describe('a conversation', () => {
  test('a new message after the end starts with its own steps', async () => {
    const conversation = [user('create a.md with x')];
    await work(conversation);
    conversation.push(user('read a.md'));
    expect(callsOf(await work(conversation))).toEqual([['read-file', { path: 'a.md' }]]);
  });

  test('a message that comes while a step runs is taken up after the steps before it, none of them twice', async () => {
    const conversation = [user('create a.md with x then list')];
    const first = await turnAfter(conversation);
    conversation.push({ role: 'assistant', text: first.text, calls: first.calls }, resultsOf(first, ok()));
    conversation.push(user('prance about then read a.md'));
    const turns = await work(conversation);
    expect(callsOf(turns).map(([tool]) => tool)).toEqual(['list-files', 'read-file']);
    expect(turns[0]?.text).toContain('I did not understand “prance about”');
    expect(turns.at(-1)?.text).toContain('Done:\n- write a.md\n- list the workspace\n- read a.md');
  });

  test.each(['go on', 'Continue, please.', 'yes', 'OK', 'please go on now'])(
    'to be let go on with %p is no step and no mistake',
    async (nod) => {
      const turns = await work([user('list'), user(nod)]);
      expect(callsOf(turns)).toEqual([['list-files', {}]]);
      expect(turns.map((turn) => turn.text).join('\n')).not.toMatch(/did not understand|not understood/);
    },
  );

  test('several messages that wait are all answered', async () => {
    const turns = await work([user('say one'), user('say two')]);
    expect(turns.map((turn) => turn.text)).toEqual(['one\n\ntwo']);
  });
});

test('X3 whatever is asked and however it goes, each step is asked for at most once, in order, and the work ends', async () => {
  const request = fc.array(
    fc.constantFrom(
      'create a with x',
      'append y to a',
      'read a',
      'run `cat b`',
      'create b with z',
      'say hi',
      'sing',
      'list',
    ),
    { minLength: 1, maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 3 }),
      fc.infiniteStream(fc.boolean()),
      async (messages, luck) => {
        const conversation: ConversationStep[] = [];
        for (const lines of messages) {
          conversation.push(user(lines.join('\n')));
          const turns = await work(conversation, () => ({
            text: 'result',
            isError: luck.next().value === true,
          }));
          const asked = callsOf(turns).map(([tool, input]) => JSON.stringify([tool, input]));
          expect(turns.length).toBe(asked.length + 1);
          expect(isSubsequence(asked, lines.flatMap(callOf))).toBe(true);
          expect(turns.at(-1)?.text).not.toBe('');
        }
      },
    ),
    { numRuns: 200 },
  );
});

function callOf(line: string): string[] {
  const calls: Record<string, [string, Record<string, unknown>]> = {
    'create a with x': ['write-file', { path: 'a', content: 'x' }],
    'append y to a': ['append-file', { path: 'a', content: 'y' }],
    'read a': ['read-file', { path: 'a' }],
    'run `cat b`': ['run-shell-command', { command: 'cat b' }],
    'create b with z': ['write-file', { path: 'b', content: 'z' }],
    list: ['list-files', {}],
  };
  const call = calls[line];
  return call === undefined ? [] : [JSON.stringify(call)];
}

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const item of whole) if (item === part[at]) at += 1;
  return at === part.length;
}

describe('as a language model of the AI SDK', () => {
  const prompt = [
    {
      role: 'user' as const,
      content: [{ type: 'text' as const, text: 'say hello then create a.md with x' }],
    },
  ];
  const tools = [{ type: 'function' as const, name: TOOL.write, inputSchema: {} }];

  test('generates at once what it streams', async () => {
    const generated = await offlineModel.doGenerate({ prompt, tools });
    expect(generated).toMatchObject({
      content: [
        { type: 'text', text: 'hello\n\nI will write a.md.' },
        { type: 'tool-call', toolName: TOOL.write, input: '{"path":"a.md","content":"x"}' },
      ],
      finishReason: { unified: 'tool-calls' },
    });
    const { stream } = await offlineModel.doStream({ prompt, tools });
    let text = '';
    for await (const part of stream) if (part.type === 'text-delta') text += part.delta;
    expect(text).toBe('hello\n\nI will write a.md.');
  });

  test('ends a stream that is aborted', async () => {
    const abort = new AbortController();
    const plan = '{"plan": [{"say": "x", "repeat": 1000000}]}';
    const { stream } = await offlineModel.doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: plan }] }],
      abortSignal: abort.signal,
    });
    let parts = 0;
    const reading = (async () => {
      for await (const part of stream) {
        parts += part.type === 'text-delta' ? 1 : 0;
        if (parts === 10) abort.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    expect(parts).toBeLessThan(200);
  });
});
