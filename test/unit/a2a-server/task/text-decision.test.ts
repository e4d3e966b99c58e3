import { describe, expect, it } from '@jest/globals';
import { acceptMessage } from '../../../../a2a-server/task/accept-message.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { foldNextEvents } from '../../../../a2a-server/task/fold.ts';
import { pendingActions } from '../../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { decisionInText } from '../../../../a2a-server/task/text-decision.ts';
import {
  askedByTool,
  decide,
  decided,
  decision,
  says,
  TOOL_STARTED,
  waitingFor,
} from '../../../support/decided-task.ts';
import { parkedTask, ranCall, taskAfter, turnEventsWith } from '../../../support/folded-task.ts';
import { request } from '../../../support/task-machine.ts';

const SECOND_TURN = turnEventsWith([{ call: request('b', false), ask: true }], { turn: 2 });

describe('decisionInText, which reads a decision from plain words', () => {
  it('the exact words "approve" and "deny" decide if one action is pending', () => {
    expect(decisionInText(waitingFor('a'), says('approve'), 't')).toMatchObject({
      callId: 'a',
      decision: 'approve',
    });
    expect(decisionInText(waitingFor('a'), says('deny'), 't')).toMatchObject({
      callId: 'a',
      decision: 'deny',
    });
  });

  it.each(['yes', 'Approve', 'APPROVE ', 'approve ', ' approve', 'reject', '1', 'approve\n'])(
    'R06 the text %j is not a decision',
    (text) => expect(decisionInText(waitingFor('a'), says(text), 't')).toBeUndefined(),
  );

  it('no word decides if two actions are pending', () => {
    expect(decisionInText(waitingFor('a', 'b'), says('approve'), 't')).toBeUndefined();
  });

  it('D2 a plain word decides only the first question of the task; a later question needs its code', () => {
    const later = parkedTask(
      foldNextEvents(decided(waitingFor('a'), decision('a')), [...ranCall(TOOL_STARTED), ...SECOND_TURN]),
    );
    const [action] = pendingActions(later);
    expect(action).not.toHaveProperty('first');
    expect(decisionInText(later, says('approve'), 't')).toBeUndefined();
    expect(decisionInText(later, says('deny'), 't')).toBeUndefined();
    expect(decide(later, [decision('b', { shown: null })])).toMatchObject({
      reason: 'INPUT_CHANGED',
    });
    expect(
      acceptMessage(later, says('approve'), { channel: 'a2a', wordsDecide: true, taskId: 't' }),
    ).toMatchObject({
      reason: 'DECISION_NEEDED',
      message: expect.stringContaining('answer with the words that it names'),
    });
    const coded = decisionInText(later, says(`approve ${action?.shown ?? ''}`), 't');
    expect(coded).toMatchObject({ callId: 'b', decision: 'approve' });
    expect(coded && decide(later, [coded])).toMatchObject([{ type: 'tool.decided' }, {}]);
  });

  it('D2 a plain word does not decide the second of two calls after the first decision', () => {
    expect(
      decisionInText(decided(waitingFor('a', 'b'), decision('a')), says('approve'), 't'),
    ).toBeUndefined();
  });

  it('D2 any text answers a later question, but a plain decision word needs the question’s code', () => {
    const asks = askedByTool();
    const code = pendingActions(asks)[0]?.shown ?? '';
    expect(decisionInText(asks, says('approve'), 't')).toBeUndefined();
    expect(decisionInText(asks, says('red'), 't')).toMatchObject({ decision: 'answer', answer: 'red' });
    expect(decisionInText(asks, says(`answer ${code} approve`), 't')).toMatchObject({
      decision: 'answer',
      shown: code,
      answer: 'approve',
    });
  });

  it('R93 "approve" does not decide if the text shows a shortened preview, but "deny" does', () => {
    const snapshot = waitingFor('a');
    const preview = {
      type: 'command',
      command: `echo ${'x'.repeat(9_000)}; echo HIDDEN`,
      cwd: '/w',
    } as const;
    const calls = Object.entries(snapshot.calls).map(([id, call]) => [id, { ...call, preview }] as const);
    const long = { ...snapshot, calls: Object.fromEntries(calls) };
    expect(decisionInText(long, says('approve'), 't')).toBeUndefined();
    expect(decisionInText(long, says('deny'), 't')).toMatchObject({ decision: 'deny' });
  });
});

/** Returns a task that waits after this event: a question in text, or a spent budget. */
function parkedBy(event: TaskEvent): Snapshot {
  return taskAfter({ type: 'message.received', message: says('go'), channel: 'a2a' }, event);
}

describe('the word "approve" alone, from a client without the extension', () => {
  const options = { channel: 'a2a', wordsDecide: true } as const;
  const asksInWords: TaskEvent = { type: 'input.required', pending: [], question: 'Which?' };
  const spent: TaskEvent = { type: 'input.required', pending: [], question: 'Go on?', budget: true };

  it.each([asksInWords, spent])(
    'D2 the word does not decide a call that follows an earlier question in text: %j',
    (question) => {
      const waits = parkedTask(
        foldNextEvents(parkedBy(question), [
          { type: 'message.received', message: says('blue'), channel: 'a2a' },
          { type: 'task.working' },
          ...SECOND_TURN,
        ]),
      );
      expect(decisionInText(waits, says('approve'), 't')).toBeUndefined();
      const [action] = pendingActions(waits);
      expect(action).not.toHaveProperty('first');
      expect(decisionInText(waits, says(`approve ${action?.shown ?? ''}`), 't')).toMatchObject({
        callId: 'b',
      });
    },
  );

  it('D2 the word decides nothing without a task id, because it may belong to another task of the session', () => {
    const waits = waitingFor('a');
    const [action] = pendingActions(waits);
    expect(decisionInText(waits, says('approve'), undefined)).toBeUndefined();
    expect(decisionInText(waits, says(`approve ${action?.shown ?? ''}`), undefined)).toMatchObject({
      decision: 'approve',
    });
    expect(acceptMessage(waits, says('approve'), options)).toMatchObject({
      reason: 'DECISION_NEEDED',
      message: expect.stringContaining('with the task id'),
    });
  });

  it('the word lets a task with a spent budget continue, if this is the first question of the named task', () => {
    expect(acceptMessage(parkedBy(spent), says('approve'), { ...options, taskId: 't' })).toMatchObject([
      { type: 'message.received' },
      { type: 'task.working' },
    ]);
  });

  it.each([asksInWords, spent])('D2 the word does not answer a later question in text: %j', (question) => {
    const later = foldNextEvents(parkedBy(asksInWords), [
      { type: 'message.received', message: says('blue'), channel: 'a2a' },
      question,
    ]);
    const refused = { type: 'refuse', reason: 'DECISION_NEEDED' };
    expect(acceptMessage(later, says('approve'), { ...options, taskId: 't' })).toMatchObject(refused);
    expect(acceptMessage(parkedBy(question), says('approve'), options)).toMatchObject(refused);
    expect(acceptMessage(later, says('go on'), { ...options, taskId: 't' })).toMatchObject([
      { type: 'message.received' },
      { type: 'task.working' },
    ]);
  });
});
