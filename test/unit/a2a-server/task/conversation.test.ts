import { describe, expect, it } from '@jest/globals';
import { conversation, omitMiddle, messageText } from '../../../../a2a-server/task/conversation.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { fold } from '../../../../a2a-server/task/fold.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { entriesOf, snapshotOf, uniqueText } from '../../../support/long-session.ts';

/** A task with one call in each turn, whose results have these lengths. */
function taskWith(taskId: string, ...results: number[]): Snapshot {
  const turns = results.map((result) => ({ text: 1, calls: [{ input: 1, result }], message: null }));
  return snapshotOf(taskId, entriesOf(taskId, { first: 1, turns }, false));
}

function after(snapshot: Snapshot, ...events: TaskEvent[]): Snapshot {
  return events.reduce((s, event) => fold(s, { seq: s.seq + 1, at: 0, event }), snapshot);
}

function resultsOf(...args: Parameters<typeof conversation>): string[] {
  return conversation(...args).flatMap((step) =>
    step.role === 'tool' ? step.results.map(({ text }) => text) : [],
  );
}

const answers = (text: string) => {
  const spoken: TaskEvent[] = [
    { type: 'turn.started', turn: 1, model: 'm' },
    { type: 'text.delta', turn: 1, text },
    { type: 'turn.finished', turn: 1, end: 'stop', usage: { inputTokens: 1, outputTokens: 1 } },
  ];
  return conversation([], after(taskWith('t'), ...spoken)).filter(({ role }) => role === 'assistant');
};

describe('the conversation of a task', () => {
  it('contains each result unchanged', () => {
    expect(resultsOf([], taskWith('t', 5, 7))).toEqual([uniqueText('t-c1-0', 5), uniqueText('t-c2-0', 7)]);
  });

  it('has no answer of white space alone, because providers refuse it', () => {
    expect(answers(' \n')).toEqual([]);
    expect(answers(' ok\n')).toEqual([{ role: 'assistant', text: ' ok\n', calls: [] }]);
  });

  it('is complete if the last turn of its summary is unknown', () => {
    const summarised = after(taskWith('t', 5), {
      type: 'context.summarised',
      upTo: { taskId: 'gone', turn: 1 },
      summary: 'so far',
      model: null,
      usage: { inputTokens: 0, outputTokens: 0 },
    });
    expect(conversation([], summarised)).toEqual(conversation([], taskWith('t', 5)));
  });

  it('clips the turns up to the clip, and no later turn', () => {
    const clipped = after(taskWith('t', 900, 900), {
      type: 'context.clipped',
      upTo: { taskId: 't', turn: 1 },
      chars: 500,
    });
    const [first = '', second = ''] = resultsOf([], clipped);
    expect(first).toContain('characters left out');
    expect(second).toBe(uniqueText('t-c2-0', 900));
  });

  it('clips all turns of earlier tasks by a clip of a later task', () => {
    const clipped = after(taskWith('b', 900), {
      type: 'context.clipped',
      upTo: { taskId: 'b', turn: 0 },
      chars: 500,
    });
    const [earlier = '', own = ''] = resultsOf([taskWith('a', 900)], clipped);
    expect(earlier).toContain('characters left out');
    expect(own).toBe(uniqueText('b-c1-0', 900));
  });

  it.each<[TaskEvent, string]>([
    [
      { type: 'task.canceled', reason: 'too slow', by: { principal: 'p', channel: 'test' } },
      '(The task was cancelled. Do not do the rest of it. Reason: too slow)',
    ],
    [
      { type: 'task.rejected', message: 'no such model' },
      '(The task was rejected before it began: no such model)',
    ],
  ])('says to the next task how it ended: $type', (end, note) => {
    const texts = conversation([after(taskWith('a', 1), end)], taskWith('b')).map((step) =>
      step.role === 'tool' ? '' : step.text,
    );
    expect(texts).toContain(note);
    expect(conversation([after(taskWith('a', 1), { type: 'task.completed' })], taskWith('b'))).toHaveLength(
      4,
    );
  });
});

describe('the text of a message', () => {
  it('has text parts as they are, data as JSON, and a command as its line', () => {
    expect(
      messageText({
        messageId: 'm',
        parts: [
          { type: 'text', text: 'see' },
          { type: 'data', data: { a: 1 } },
        ],
      }),
    ).toBe('see\n\n{\n  "a": 1\n}');
    expect(messageText({ messageId: 'm', parts: [], command: { command: 'init', args: ['now'] } })).toBe(
      '(Carried out: /init now)',
    );
  });
});

describe('a shortened text', () => {
  it.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcd\n[… 1 characters left out …]\nfg'],
    ['abcdefghij', 3, 'ab\n[… 7 characters left out …]\nj'],
    ['abc', 1, 'a\n[… 2 characters left out …]\n'],
  ])('keeps the ends of %j in %d characters', (text, chars, expected) => {
    expect(omitMiddle(text, chars)).toBe(expected);
  });
});
