import { describe, expect, it } from '@jest/globals';
import { nextScriptSteps } from '../../../../../a2a-server/models/scripted/scripted-model.ts';
import { parseScript } from '../../../../../a2a-server/models/scripted/script.ts';
import type { ConversationItem } from '../../../../../a2a-server/task/snapshot.ts';

const script = parseScript(
  {
    rules: [
      { when: { messageId: 'tck-', text: 'both' }, do: [{ text: 'id and text' }] },
      { when: { messageId: 'tck-' }, do: [{ text: 'id' }] },
      {
        when: { text: 'Book' },
        do: [{ inputRequired: 'When?' }, { authRequired: 'Who?' }, { text: 'booked' }],
      },
      { when: { text: 'list' }, do: [{ call: { tool: 'list-files' } }] },
      { when: { turn: 2 }, do: [{ text: 'second' }] },
    ],
    otherwise: [{ text: 'otherwise' }],
  },
  'rules.json',
);

const TURN: ConversationItem = {
  type: 'turn',
  turn: { turn: 1, model: 'scripted', text: '', artifacts: [], callIds: [], end: 'stop' },
};
const said = (text: string, messageId = 'm'): ConversationItem => ({
  type: 'message',
  message: { messageId, parts: [{ type: 'text', text }] },
});
const next = (...exchanges: ConversationItem[]): unknown[] =>
  nextScriptSteps(script, exchanges).map(({ type, value }) => (type === 'text' ? value[0] : type));

describe('nextScriptSteps, the steps of the scripted agent', () => {
  it('nextScriptSteps uses the first rule whose conditions all match', () => {
    expect(next(said('do both', 'tck-1'))).toEqual(['id and text']);
    expect(next(said('do', 'tck-1'))).toEqual(['id']);
    expect(next(said('do both', 'x-tck-1'))).toEqual(['otherwise']);
    expect(next(said('please BOOK a table'))).toEqual(['inputRequired']);
  });

  it('nextScriptSteps counts the messages of the task', () => {
    expect(next(said('hm'), TURN, said('hm'))).toEqual(['second']);
    expect(next(said('hm'), TURN, said('hm'), TURN, said('hm'))).toEqual(['otherwise']);
  });

  it('nextScriptSteps continues with the next step after a reply without a matching rule', () => {
    const started = [said('first'), TURN, said('-'), TURN, said('book'), TURN];
    expect(next(...started, said('Monday'))).toEqual(['authRequired']);
    expect(next(...started, said('Monday'), TURN, said('me'))).toEqual(['booked']);
    expect(next(...started, said('Monday'), TURN, said('me'), TURN, said('more'))).toEqual(['otherwise']);
  });

  it('nextScriptSteps leaves the current sequence if a rule matches the reply', () => {
    expect(next(said('book'), TURN, said('list instead'))).toEqual(['call']);
  });

  it('nextScriptSteps ends the task after a last call or question', () => {
    expect(next(said('list'), TURN)).toEqual([]);
  });

  it('nextScriptSteps continues if a message arrives in the middle', () => {
    expect(next(said('first'), TURN, said('-'), TURN, said('list'), said('and?'))).toEqual(['call']);
  });
});
