import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Observation } from '../../../../../bridge/dialects/observation.ts';
import {
  isSessionOver,
  NEW_SESSION,
  nextSessionState,
  sessionProblem,
  type SessionEvent,
  type SessionState,
  shownTaskView,
  sessionStateName,
  sessionTaskStateOf,
} from '../../../../../bridge/sessions/session/session-state.ts';
import { hasEnded, hasSettled } from '../../../../../bridge/sessions/session/observed-task.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const LOST = new ProductError('AGENT_UNREACHABLE', 'gone');
const UNKNOWN = new ProductError('UNKNOWN_TASK', 'no such task');
const QUESTION = { id: 'q', shown: '00000000', text: 'Which?', form: null };

type Status = Extract<Observation, { type: 'status' }>;
const status = (state: Status['state'], more: Partial<Status> = {}): SessionEvent => ({
  type: 'observed',
  observed: {
    seq: null,
    observations: [
      { type: 'status', taskId: 't', sessionId: 's', state, text: '', pending: [], question: null, ...more },
    ],
  },
});
const observed = (...observations: readonly Observation[]): SessionEvent => ({
  type: 'observed',
  observed: { seq: null, observations },
});
const after = (...events: readonly SessionEvent[]): SessionState =>
  events.reduce(nextSessionState, NEW_SESSION);
const send = (answers?: string, delegates = true): SessionEvent => ({ type: 'sending', answers, delegates });
const DELIVERED: SessionEvent = { type: 'delivered' };
const FORGOTTEN: SessionEvent = { type: 'forgotten', error: UNKNOWN };
const ASKS = status('input-required', { pending: [pendingWrite('one')] });

const anyEvent: fc.Arbitrary<SessionEvent> = fc.constantFrom(
  send(),
  send('q'),
  send(undefined, false),
  DELIVERED,
  FORGOTTEN,
  status('working'),
  status('completed'),
  status('rejected'),
  status('auth-required'),
  status('input-required', { question: QUESTION }),
  ASKS,
  { type: 'delivery', delivery: { type: 'silent' } },
  {
    type: 'delivery',
    delivery: { type: 'retrying', reason: 'refused', nextTry: new Date(0), mayHaveArrived: false },
  },
  { type: 'delivery', delivery: { type: 'given-up', error: LOST } },
  { type: 'stream-ended' },
  { type: 'stream-lost', error: LOST },
  { type: 'stream-opened' },
  { type: 'handed-over' },
);

describe('the state of a session in the bridge', () => {
  test('S1 the state agrees with its view after any events, and the old state object does not change', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 25 }), (events) => {
        let state: SessionState = NEW_SESSION;
        for (const event of events) {
          const before = state;
          const copy = structuredClone(sessionStateName(before));
          state = nextSessionState(before, event);
          expect(sessionStateName(before)).toBe(copy);
          const task = sessionTaskStateOf(state);
          if (task?.type === 'ended') expect(hasEnded(task.view)).toBe(true);
          if (task?.type === 'working') expect(hasSettled(task.view, task.answered)).toBe(false);
          if (task?.type === 'unknown-to-agent')
            expect(task.view).toMatchObject({ pending: [], question: null });
          if (state.type === 'not-delivered' && state.delivery.type !== 'silent')
            expect(sessionProblem(state)).toContain('not delivered');
          expect(isSessionOver(state) && sessionStateName(state) === 'working').toBe(false);
        }
      }),
    );
  });

  test('R100 only the agent’s answer makes a first message "delivered"', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 25 }), (events) => {
        const silent = events.filter(({ type }) => type !== 'observed');
        expect(after(...silent).type).toBe('not-delivered');
      }),
    );
  });

  test('R100 an undelivered message hides neither the earlier task nor its outcome', () => {
    const state = after(status('working'), send(), ASKS);
    expect(sessionStateName(state)).toBe('not-delivered');
    expect(sessionTaskStateOf(state)).toMatchObject({
      type: 'waiting',
      view: { pending: [{ callId: 'one' }] },
    });
    expect(nextSessionState(state, DELIVERED)).toBe(sessionTaskStateOf(state));
  });

  test('a message that fails leaves the task’s state unchanged', () => {
    const before = after(status('input-required', { question: QUESTION }));
    const sending = nextSessionState(before, send('q', false));
    expect(sending.type).toBe('working');
    const [was, during] = [sessionTaskStateOf(before), sessionTaskStateOf(sending)];
    expect(nextSessionState(sending, { type: 'undelivered', error: LOST, before: was, during })).toBe(before);
    const moved = nextSessionState(sending, status('completed'));
    expect(nextSessionState(moved, { type: 'undelivered', error: LOST, before: was, during })).toBe(moved);
  });

  test('if an answer fails, its question is open again, even if the agent has repeated it meanwhile', () => {
    const asked = status('input-required', { question: QUESTION });
    const before = after(asked);
    const sending = nextSessionState(before, send('q', false));
    const repeated = nextSessionState(
      sending,
      status('input-required', { question: QUESTION, text: 'again' }),
    );
    expect(repeated.type).toBe('working');
    const tasks = { before: sessionTaskStateOf(before), during: sessionTaskStateOf(sending) };
    expect(nextSessionState(repeated, { type: 'undelivered', error: LOST, ...tasks }).type).toBe('waiting');
  });

  test('an answered question is not shown again while the agent repeats it', () => {
    const asked = status('input-required', { question: QUESTION, text: 'once more' });
    expect(after(status('input-required', { question: QUESTION }), send('q'), DELIVERED, asked).type).toBe(
      'working',
    );
  });

  test('if the agent has worked since the answer, the same question is a new one', () => {
    const asked = status('input-required', { question: QUESTION });
    expect(after(asked, send('q'), DELIVERED, status('working'), asked).type).toBe('waiting');
  });

  test('a task works after its last decision, even if the agent has not reported that yet', () => {
    const state = after(status('input-required', { text: 'Write one.md?' }));
    expect(sessionStateName(state)).toBe('working');
    expect(sessionTaskStateOf(state)).toMatchObject({ view: { state: 'input-required' } });
    expect(sessionStateName(nextSessionState(state, { type: 'stream-ended' }))).toBe('input-required');
  });

  test('an action whose decision was sent is not shown as pending until the agent asks again', () => {
    const ids = { taskId: 't', sessionId: 's' };
    const call = { callId: 'one', tool: 'write-file', title: 'Write one.md', asks: true };
    const state = after(
      ASKS,
      observed({ type: 'activity', activity: { type: 'tool.requested', ...call } }),
      observed({ type: 'decided', ...ids, callIds: ['one'] }),
    );
    const task = sessionTaskStateOf(state);
    expect(task?.view.pending).toHaveLength(1);
    expect(task && shownTaskView(task)).toMatchObject({ state: 'working', pending: [] });
  });

  test('"input-required" without a question counts as waiting when the stream ends', () => {
    const state = after(status('input-required'));
    expect(state.type).toBe('working');
    expect(nextSessionState(state, { type: 'stream-ended' }).type).toBe('waiting');
    expect(nextSessionState(after(status('working')), { type: 'stream-ended' }).type).toBe('working');
  });

  test('R100 a task that its agent forgot has no pending action until the agent reports it again', () => {
    const forgotten = nextSessionState(after(ASKS), FORGOTTEN);
    expect([sessionStateName(forgotten), sessionTaskStateOf(forgotten)?.view.pending]).toEqual([
      'unknown-to-agent',
      [],
    ]);
    expect(nextSessionState(forgotten, FORGOTTEN)).toBe(forgotten);
    expect(nextSessionState(forgotten, ASKS).type).toBe('waiting');
  });

  test('an ended task stays ended if its agent forgets it, and its result is delivered once', () => {
    const ended = after(status('completed'));
    expect(nextSessionState(ended, FORGOTTEN)).toBe(ended);
    const collected = nextSessionState(ended, { type: 'handed-over' });
    expect(collected).toMatchObject({ type: 'ended', result: 'handed-over' });
    // Some agents continue a session in the same task.
    expect(
      nextSessionState(nextSessionState(collected, status('working')), status('completed')),
    ).toMatchObject({ result: 'open' });
  });
});
