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

it('no text of a person or of a tool reaches a provider with half a character', () => {
  const result = { modelCallId: 'c', tool: 't', text: 'cut \ud83d', isError: false };
  const { prompt } = toCallOptions({
    instructions: '',
    conversation: [
      { role: 'user', text: '\ude00 sent, and 😀' },
      { role: 'tool', results: [result, { ...result, isError: true }] },
    ],
    exchanges: [],
    tools: [],
  });
  expect(JSON.stringify(prompt)).not.toContain('\\ud');
  expect(JSON.stringify(prompt)).toContain('\ufffd sent, and 😀');
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
