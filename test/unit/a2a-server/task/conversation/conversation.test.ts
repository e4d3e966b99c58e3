import { describe, expect, it } from '@jest/globals';
import {
  buildConversation,
  userMessageText,
} from '../../../../../a2a-server/task/conversation/conversation.ts';
import type { TaskEvent } from '../../../../../a2a-server/task/events.ts';
import { foldEntry } from '../../../../../a2a-server/task/fold.ts';
import type { Snapshot } from '../../../../../a2a-server/task/snapshot.ts';
import { entriesOf, snapshotOf, uniqueText } from '../../../../support/long-session.ts';
import { spokenTurn } from '../../../../support/folded-task.ts';
import { message } from '../../../../support/journal-samples.ts';

/** Returns a task with one call in each turn. The results of the calls have these lengths. */
function taskWith(taskId: string, ...results: number[]): Snapshot {
  const turns = results.map((result) => ({ text: 1, calls: [{ input: 1, result }], message: null }));
  return snapshotOf(taskId, entriesOf(taskId, { first: 1, turns }, false));
}

function after(snapshot: Snapshot, ...events: TaskEvent[]): Snapshot {
  return events.reduce((s, event) => foldEntry(s, { seq: s.seq + 1, at: 0, event }), snapshot);
}

function resultsOf(...args: Parameters<typeof buildConversation>): string[] {
  return buildConversation(...args).flatMap((step) =>
    step.role === 'tool' ? step.results.map(({ text }) => text) : [],
  );
}

const answers = (text: string) => {
  return buildConversation([], after(taskWith('t'), ...spokenTurn(1, text))).filter(
    ({ role }) => role === 'assistant',
  );
};

describe('the conversation of a task', () => {
  it('the conversation contains each result unchanged', () => {
    expect(resultsOf([], taskWith('t', 5, 7))).toEqual([uniqueText('t-c1-0', 5), uniqueText('t-c2-0', 7)]);
  });

  it('the conversation has no answer of white space alone, because providers refuse such an answer', () => {
    expect(answers(' \n')).toEqual([]);
    expect(answers(' ok\n')).toEqual([{ role: 'assistant', text: ' ok\n', calls: [] }]);
  });

  it('the conversation is complete if the last turn of its summary is unknown', () => {
    const summarised = after(taskWith('t', 5), {
      type: 'context.summarised',
      upTo: { taskId: 'gone', turn: 1 },
      summary: 'so far',
      model: null,
      usage: { inputTokens: 0, outputTokens: 0 },
    });
    expect(buildConversation([], summarised)).toEqual(buildConversation([], taskWith('t', 5)));
  });

  it('the conversation omits the files of a message whose task failed as too long', () => {
    const file = { hash: 'h', bytes: 9, mediaType: 'application/pdf', name: 'plan.pdf' };
    const begun = after(
      taskWith('t', 1),
      {
        type: 'message.received',
        channel: 'test',
        message: {
          messageId: 'f',
          parts: [
            { type: 'text', text: 'Read this.' },
            { type: 'stored-file', file },
          ],
        },
      },
      { type: 'turn.started', turn: 2, model: 'm' },
      {
        type: 'turn.finished',
        turn: 2,
        end: 'stop',
        usage: { inputTokens: 1, outputTokens: 1 },
      },
    );
    const taking = { model: 'm', basis: 'b', inputModes: ['application/pdf'] };
    const filesWith = (earlier: Snapshot): string[] =>
      buildConversation([earlier], taskWith('u'), taking).flatMap((step) =>
        step.role === 'user' ? (step.files ?? []).map(({ hash }) => hash) : [],
      );
    const failed = (tooLong: boolean): Snapshot =>
      after(begun, { type: 'task.failed', message: 'no', ...(tooLong && { tooLong }) });
    expect(filesWith(failed(false))).toEqual(['h']);
    expect(filesWith(failed(true))).toEqual([]);
    const texts = buildConversation([failed(true)], taskWith('u'), taking).map((step) =>
      step.role === 'user' ? step.text : '',
    );
    expect(texts).toContainEqual(expect.stringContaining('The files of this message are left out'));
  });

  it('the next task’s conversation keeps the first message of a task that was summarised', () => {
    const first = taskWith('t', 5, 7);
    const summarised = after(
      first,
      {
        type: 'context.summarised',
        upTo: { taskId: 't', turn: 1 },
        summary: 'so far',
        model: null,
        usage: { inputTokens: 0, outputTokens: 0 },
      },
      { type: 'task.completed' },
    );
    const next = taskWith('u');
    const texts = buildConversation([summarised], next).flatMap((step) =>
      step.role === 'user' ? [step.text] : [],
    );
    expect(texts).toEqual([
      uniqueText('t-first', 1),
      expect.stringContaining('so far'),
      uniqueText('u-first', 1),
    ]);
  });

  it('a clip shortens the turns up to its own turn, and no later turn', () => {
    const clipped = after(taskWith('t', 900, 900), {
      type: 'context.clipped',
      upTo: { taskId: 't', turn: 1 },
      chars: 500,
    });
    const [first = '', second = ''] = resultsOf([], clipped);
    expect(first).toContain('characters left out');
    expect(second).toBe(uniqueText('t-c2-0', 900));
  });

  it('a clip in a later task shortens all turns of earlier tasks', () => {
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
  ])('the next task’s conversation says how the task ended: $type', (end, note) => {
    const texts = buildConversation([after(taskWith('a', 1), end)], taskWith('b')).map((step) =>
      step.role === 'tool' ? '' : step.text,
    );
    expect(texts).toContain(note);
    expect(
      buildConversation([after(taskWith('a', 1), { type: 'task.completed' })], taskWith('b')),
    ).toHaveLength(4);
  });
});

const withheld = (turn: number): TaskEvent[] => spokenTurn(turn, 'I ', 'content-filter');
const received = (text: string): TaskEvent => message(text, text);

function reader(model: string): { model: string; basis: string } {
  return { model, basis: '' };
}

describe('an answer that the provider withheld', () => {
  it('the conversation omits a withheld answer and the results before it, and keeps the calls and earlier results', () => {
    const task = after(taskWith('t', 5, 7), ...withheld(2));
    const whole = buildConversation([], taskWith('t', 5, 7), reader('m'));
    expect(whole).toHaveLength(5);
    const [first, ...rest] = buildConversation([], task, reader('m')).toReversed();
    expect(rest.toReversed()).toEqual(whole.slice(0, -1));
    expect(first).toEqual({
      role: 'tool',
      results: [
        expect.objectContaining({
          text: "(This result is left out, because the model's provider withheld the answer to it.)",
        }),
      ],
    });
  });

  it('another model’s conversation omits the withheld answer, and has the results', () => {
    const task = after(taskWith('t', 5), ...withheld(1));
    expect(buildConversation([], task, reader('other'))).toEqual(
      buildConversation([], taskWith('t', 5), reader('other')),
    );
  });

  it('a sentence replaces each message whose answer was withheld, with its files', () => {
    const task = after(taskWith('t', 5), received('one'), received('two'), ...withheld(1), received('three'));
    const texts = buildConversation([], task, reader('m')).flatMap((step) =>
      step.role === 'user' ? [step.text] : [],
    );
    const LEFT_OUT = "(This message is left out, because the model's provider withheld the answer to it.)";
    expect(texts.slice(1)).toEqual([LEFT_OUT, LEFT_OUT, 'three']);
    expect(resultsOf([], task, reader('m'))).toEqual([uniqueText('t-c1-0', 5)]);
  });
});

describe('the text of a message', () => {
  it('the text has text parts unchanged, data as JSON, and a command as its line', () => {
    expect(
      userMessageText({
        messageId: 'm',
        parts: [
          { type: 'text', text: 'see' },
          { type: 'data', data: { a: 1 } },
        ],
      }),
    ).toBe('see\n\n{\n  "a": 1\n}');
    expect(userMessageText({ messageId: 'm', parts: [], command: { command: 'init', args: ['now'] } })).toBe(
      '(Carried out: /init now)',
    );
  });
});
