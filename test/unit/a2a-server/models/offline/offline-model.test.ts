import { describe, expect, test } from '@jest/globals';
import type { ConversationStep, ModelEvent } from '../../../../../a2a-server/models/model.ts';
import { createOfflineModel } from '../../../../../a2a-server/models/offline/offline-model.ts';
import { plan, wait } from '../../../../support/offline-plan.ts';

const OFFERED = ['write-file', 'read-file', 'wait'];
const DENIED = 'The person denied this call; it was not run. Reason: too risky';

interface Turn {
  texts: string[];
  text: string;
  calls: { tool: string; input: unknown }[];
  end: unknown;
}

async function turnAfter(conversation: ConversationStep[], offered = OFFERED): Promise<Turn> {
  const tools = offered.map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
  const { signal } = new AbortController();
  const events: ModelEvent[] = [];
  const request = { instructions: '', conversation, exchanges: [], tools, signal };
  for await (const event of createOfflineModel('offline').stream(request)) events.push(event);
  const texts = events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
  return {
    texts,
    text: texts.join(''),
    calls: events.flatMap((event) =>
      event.type === 'call' ? [{ tool: event.tool, input: event.input }] : [],
    ),
    end: events.flatMap((event) => (event.type === 'finish' ? [event.end] : []))[0],
  };
}

const user = (text: string): ConversationStep => ({ role: 'user', text });

/** Returns the turn and its results in the form in which the next turn's prompt contains them. */
function after({ text, calls }: Turn, result: { text: string; isError: boolean }): ConversationStep[] {
  const made = calls.map(({ tool }, index) => ({ modelCallId: `call-${index + 1}`, tool, input: {} }));
  return [
    { role: 'assistant', text, calls: made },
    { role: 'tool', results: made.map(({ modelCallId, tool }) => ({ modelCallId, tool, ...result })) },
  ];
}

describe('a task for the offline model', () => {
  test('"Create test.md with hello" is one call and then the end with its result', async () => {
    const conversation = [user('Create test.md with hello')];
    const first = await turnAfter(conversation);
    expect(first).toMatchObject({
      calls: [{ tool: 'write-file', input: { path: 'test.md', content: 'hello' } }],
      end: 'tool-calls',
    });
    const last = await turnAfter([
      ...conversation,
      ...after(first, { text: 'Wrote test.md.', isError: false }),
    ]);
    expect(last).toMatchObject({
      text: 'Wrote test.md.',
      calls: [],
      end: {
        type: 'completed',
        message: expect.stringMatching(/^No language model is configured: .*model set/),
      },
    });
  });

  test('any other message is refused with advice to choose a model, and no tool runs', async () => {
    const turn = await turnAfter([user('Fix the failing test and then run the tests')]);
    expect(turn).toMatchObject({ text: '', calls: [] });
    expect(turn.end).toEqual({
      type: 'rejected',
      message: expect.stringMatching(
        /^No model is configured, so the agent does not understand .*\n.*mcp-a2a-bridge model set .*\n.*create F with X/,
      ),
    });
  });

  test('each step of a plan is one turn, in order; after a denied step the model reports it and continues', async () => {
    const together = [
      { tool: 'read-file', input: { path: 'a' } },
      { tool: 'read-file', input: { path: 'b' } },
    ];
    const conversation = [user(plan(wait(1), { together }, { say: 'and done' }))];
    const first = await turnAfter(conversation);
    expect(first.calls).toEqual([{ tool: 'wait', input: { seconds: 1 } }]);
    conversation.push(...after(first, { text: DENIED, isError: true }));
    const second = await turnAfter(conversation);
    expect(second).toMatchObject({ text: DENIED, calls: together });
    conversation.push(...after(second, { text: 'content', isError: false }));
    const third = await turnAfter(conversation);
    expect(third).toMatchObject({
      text: 'read-file: content\nread-file: content\n\nand done',
      calls: [],
      end: 'stop',
    });
  });

  test('the same conversation gives the same turn', async () => {
    const conversation = [user(plan(wait(1), { say: 'x' }))];
    expect(await turnAfter(conversation)).toEqual(await turnAfter(conversation));
  });

  test('an unknown tool is reported by name, and the next step follows', async () => {
    const turn = await turnAfter([user(plan({ tool: 'deploy', input: {} }, wait(1)))]);
    expect(turn).toMatchObject({
      text: 'Not done: this task has no tool deploy.',
      calls: [{ tool: 'wait' }],
    });
  });

  test('text arrives word by word, and a repeated text in the same number of chunks', async () => {
    expect((await turnAfter([user('say one two three')])).texts).toEqual(['one ', 'two ', 'three']);
    const repeated = await turnAfter([user(plan({ say: 'chunk of text ', repeat: 1000 }))]);
    expect(repeated.texts).toEqual(Array.from({ length: 1000 }, () => 'chunk of text '));
  });

  test('a message during the work adds its steps after the current ones, and no step runs twice', async () => {
    const conversation = [user(plan(wait(1), wait(2)))];
    const first = await turnAfter(conversation);
    conversation.push(...after(first, { text: 'ok', isError: false }), user('wait 3 seconds'), user('dance'));
    const second = await turnAfter(conversation);
    expect(second).toMatchObject({
      text: expect.stringContaining('does not understand'),
      calls: [{ input: { seconds: 2 } }],
    });
    conversation.push(...after(second, { text: 'ok', isError: false }));
    expect(await turnAfter(conversation)).toMatchObject({ calls: [{ input: { seconds: 3 } }] });
  });

  test('steps that have finished do not run again: only later messages count', async () => {
    const conversation: ConversationStep[] = [
      user('wait 1 seconds'),
      { role: 'assistant', text: 'ok', calls: [] },
    ];
    expect(await turnAfter([...conversation, user('go on')])).toMatchObject({
      text: 'There was nothing to do.',
      calls: [],
      end: 'stop',
    });
  });
});
