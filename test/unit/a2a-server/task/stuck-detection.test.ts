import { describe, expect, it } from '@jest/globals';
import { stuckRemarks } from '../../../../a2a-server/task/stuck-detection.ts';
import { buildConversation } from '../../../../a2a-server/task/conversation/conversation.ts';
import type { TaskEvent, TurnEnd } from '../../../../a2a-server/task/events.ts';
import { nextStep } from '../../../../a2a-server/task/next-step.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { foldedTask, spokenTurn, turnEventsWith, ranCall } from '../../../support/folded-task.ts';
import { created, message, working } from '../../../support/journal-samples.ts';
import { request } from '../../../support/task-machine.ts';

/** Returns the events of one turn with the given number. */
type Played = (turn: number) => TaskEvent[];

function task(...played: (Played | TaskEvent)[]): Snapshot {
  let turn = 0;
  const events = played.flatMap((each) => (typeof each === 'function' ? each((turn += 1)) : [each]));
  return foldedTask([created('s'), message('do it'), working, ...events]);
}

function times(count: number, played: Played): Played[] {
  return Array.from({ length: count }, () => played);
}

function ends(end: TurnEnd, text = ''): Played {
  return (turn) => spokenTurn(turn, text, end);
}

function calls(tool: string, result: { ran: string } | { refused: string }): Played {
  return (turn) => {
    const call = { ...request(`c${turn}`, true), tool, title: `Use ${tool}`, input: {}, inputHash: 'h' };
    const events = turnEventsWith([{ call, ask: false }], { turn });
    if ('ran' in result) return [...events, ...ranCall(call, result.ran)];
    return events.map((event) =>
      event.type === 'tool.requested'
        ? { ...event, verdict: { type: 'refuse', message: result.refused } }
        : event,
    );
  };
}

const FAULTS: [string, Played, { told: number; most: number }, string][] = [
  ['answers with nothing', ends('empty'), { told: 1, most: 3 }, 'answer was empty'],
  ['does not come to an end', ends('length', 'and so on'), { told: 1, most: 3 }, 'cut off'],
  [
    'asks for what is not there',
    calls('fly', { refused: 'There is no tool fly.' }),
    { told: 2, most: 5 },
    'None of',
  ],
  [
    'asks for the same again',
    calls('look', { ran: 'Nothing.' }),
    { told: 4, most: 11 },
    'with the same results',
  ],
];

describe.each(FAULTS)('a model that %s', (_, fault, { told, most }, words) => {
  it('the model gets a remark with the next request', () => {
    for (let count = 1; count < most; count += 1) {
      const snapshot = task(...times(count, fault));
      expect(nextStep(snapshot)).toEqual({ type: 'ask-model' });
      const last = JSON.stringify(buildConversation([], snapshot).at(-1));
      expect(last.includes(words)).toBe(count >= told);
    }
  });

  it('the model gets a limited number of turns, and then the server asks the person', () => {
    const step = nextStep(task(...times(most, fault)));
    expect(step).toMatchObject({
      type: 'append',
      events: [{ type: 'input.required', pending: [], question: expect.stringContaining('The model m ') }],
    });
  });

  it('after a person’s reply or a different turn, the count of faulty turns begins at zero', () => {
    const reply: TaskEvent[] = [message('try something else', 'reply'), working];
    expect(nextStep(task(...times(most, fault), ...reply))).toEqual({ type: 'ask-model' });
    expect(nextStep(task(...times(most, fault), ...reply, fault))).toEqual({ type: 'ask-model' });
    const other = calls('other', { ran: 'Something.' });
    expect(nextStep(task(...times(most - 1, fault), other, fault))).toEqual({ type: 'ask-model' });
  });
});

describe('a model that makes progress', () => {
  it('the model gets no remark if the same call returns new content', () => {
    const polls = Array.from({ length: 20 }, (_, at) => calls('look', { ran: `At ${at} %.` }));
    const snapshot = task(...polls);
    expect(stuckRemarks(snapshot).size).toBe(0);
    expect(nextStep(snapshot)).toEqual({ type: 'ask-model' });
  });

  it('the model completes its task with the answer that follows an empty one', () => {
    expect(nextStep(task(ends('empty'), ends('stop', 'Done.')))).toEqual({
      type: 'append',
      events: [{ type: 'task.completed' }],
    });
  });

  it('the conversation keeps the remark at each faulty turn, also after the model has recovered', () => {
    const steps = buildConversation([], task(ends('length', 'a long '), ends('stop', 'story.')));
    expect(steps.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });
});
