import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toCallOptions } from '../../../../a2a-server/models/ai-sdk-prompt.ts';
import { buildConversation } from '../../../../a2a-server/task/conversation/conversation.ts';
import type { JournalEntry } from '../../../../a2a-server/task/events.ts';
import { entriesOf, plannedSession, snapshotOf } from '../../../support/long-session.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

const READER = { model: 'm', basis: 'b' };

/** Adds signatures to the turn's text and calls, as real providers do. */
function signed({ seq, at, event }: JournalEntry): JournalEntry {
  if (event.type !== 'turn.finished') return { seq, at, event };
  const state = { p: { signature: `${event.turn}` } };
  const parts = [
    { type: 'reasoning' as const, length: 0, state },
    { type: 'text' as const, length: 1_000_000 },
    { type: 'call' as const, state },
    { type: 'call' as const },
    { type: 'call' as const },
  ];
  return { seq, at, event: { ...event, replay: { basis: READER.basis, parts } } };
}

/** Two turns with a call each: the second prompt has the signature of the first turn. */
const signedTurn = { text: 10, calls: [{ input: 1, result: 10 }], message: null };
const twoTurns = [{ first: 10, turns: [signedTurn, signedTurn] }];

it('no text of a person, a tool or a model reaches a provider with half a character', () => {
  const result = { modelCallId: 'c', tool: 't', text: 'cut \ud83d', isError: false };
  const call = {
    modelCallId: 'c',
    tool: 't',
    input: { list: [{ text: 'half \ud83d' }], whole: '😀 \\ud83d' },
  };
  const { prompt } = toCallOptions({
    instructions: '',
    conversation: [
      { role: 'user', text: '\ude00 sent, and 😀' },
      { role: 'assistant', text: 'I \ud83d', calls: [call] },
      { role: 'tool', results: [result, { ...result, isError: true }] },
      {
        role: 'assistant',
        text: '',
        calls: [call],
        parts: [
          { type: 'text', text: 'I \ud83d' },
          { type: 'call', ...call },
        ],
      },
    ],
    exchanges: [],
    tools: [],
  });
  const texts = JSON.stringify(prompt).replaceAll('😀 \\\\ud83d', '');
  expect(texts).not.toContain('\\ud');
  expect(texts).toContain('\ufffd sent, and 😀');
  const expected = { input: { list: [{ text: 'half \ufffd' }], whole: '😀 \\ud83d' } };
  const turn = { content: [{ type: 'text' }, { type: 'tool-call', ...expected }] };
  expect(prompt.filter(({ role }) => role === 'assistant')).toMatchObject([turn, turn]);
});

it('no message of a person and no result of a tool reaches a provider as white space only', () => {
  const result = { modelCallId: 'c', tool: 't', text: '\n', isError: false };
  const { prompt } = toCallOptions({
    instructions: '',
    conversation: [
      { role: 'user', text: ' ' },
      { role: 'tool', results: [result] },
    ],
    exchanges: [],
    tools: [],
  });
  expect(prompt).toMatchObject([
    { content: [{ type: 'text', text: '[empty]' }] },
    { content: [{ output: { type: 'text', value: '[empty]' } }] },
  ]);
});

it('a call of a tool that does not exist reaches a provider under a name that all providers accept', () => {
  const names = ['multi_tool_use.parallel', 'default_api:read file', 'x'.repeat(100), '', 'mcp__a__b-c'];
  const calls = names.map((tool, index) => ({ modelCallId: `c${index}`, tool, input: {} }));
  const { prompt } = toCallOptions({
    instructions: '',
    conversation: [
      { role: 'assistant', text: '', calls },
      {
        role: 'tool',
        results: calls.map((call) => ({ ...call, text: 'There is no such tool.', isError: true })),
      },
      { role: 'assistant', text: '', calls, parts: calls.map((call) => ({ type: 'call', ...call })) },
    ],
    exchanges: [],
    tools: [],
  });
  const accepted = ['multi_tool_use_parallel', 'default_api_read_file', 'x'.repeat(64), '_', 'mcp__a__b-c'];
  const content = accepted.map((toolName) => ({ toolName }));
  expect(prompt).toMatchObject([{ content }, { content }, { content }]);
});

it('the prompt of each turn starts with the whole prompt of the previous turn, byte for byte', () => {
  let signatures = 0;
  fc.assert(
    fc.property(plannedSession, (planned) => {
      const prompts: string[][] = [];
      const tasks = planned.map((task, index) => entriesOf(`k${index}`, task, true).map(signed));
      for (const [index, entries] of tasks.entries()) {
        const earlier = tasks.slice(0, index).map((each, before) => snapshotOf(`k${before}`, each));
        for (const [position, { event }] of entries.entries()) {
          if (event.type !== 'turn.started') continue;
          const current = snapshotOf(`k${index}`, entries.slice(0, position + 1));
          const request = {
            instructions: 'You work.',
            conversation: buildConversation(earlier, current, READER),
            exchanges: [],
            tools: [],
          };
          prompts.push(toCallOptions(request).prompt.map((message) => JSON.stringify(message)));
        }
      }
      for (const [index, prompt] of prompts.entries()) {
        const before = prompts[index - 1] ?? [];
        expect(prompt.slice(0, before.length)).toEqual(before);
        signatures += prompt.filter((message) => message.includes('"signature":"1"')).length;
      }
    }),
    { numRuns: numberOfRuns(40), examples: [[twoTurns]] },
  );
  expect(signatures).toBeGreaterThan(0);
});
