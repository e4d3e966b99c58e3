import { describe, expect, test } from '@jest/globals';
import { inboxEntryText } from '../../../../bridge/inbox/notices.ts';
import { inboxEntries } from '../../../../bridge/inbox/inbox-entry.ts';
import type { ListedSession } from '../../../../bridge/sessions/list-sessions.ts';
import type { UncollectedTask } from '../../../../bridge/state/waiting-results.ts';

const session = (change: Partial<ListedSession>): ListedSession => ({
  sessionId: 'session-1',
  agent: 'local',
  taskId: 'task-1',
  state: 'working',
  notDone: '',
  title: 'write it',
  updatedAt: '2026-01-01T00:00:00Z',
  pending: 0,
  codes: [],
  callIds: [],
  usd: null,
  ...change,
});
const task = (change: Partial<UncollectedTask>): UncollectedTask => ({
  agent: 'local',
  taskId: 'task-1',
  sessionId: 'session-1',
  title: 'write it',
  ended: null,
  delegatedIn: null,
  own: true,
  ...change,
});
const states = (sessions: ListedSession[], tasks: UncollectedTask[]): unknown =>
  inboxEntries(sessions, tasks).map(({ entry }) => [entry.type, entry.state]);
const waits = (code: string): ListedSession =>
  session({ taskId: 'task-2', state: 'input-required', pending: 1, codes: [code] });
const key = (code: string): string | undefined => inboxEntries([waits(code)], [])[0]?.key;

describe('the entries of the inbox', () => {
  test('a task that runs is no entry', () => {
    expect(states([session({})], [task({})])).toEqual([]);
  });

  test('R68 a result is an entry if a bridge has recorded it, or if only the agent knows its end', () => {
    expect(states([], [task({ ended: 'failed' })])).toEqual([['finished', 'failed']]);
    expect(states([session({ state: 'completed' })], [task({})])).toEqual([['finished', 'completed']]);
    expect(states([], [task({ ended: 'unknown' })])).toEqual([['finished', 'unknown-to-agent']]);
  });

  test('R100 a result says which calls were not done', () => {
    const notDone = 'not done: Write a.txt (denied)';
    const [finished] = inboxEntries(
      [session({ state: 'completed', notDone })],
      [task({ ended: 'completed' })],
    );
    expect(finished?.entry).toMatchObject({ type: 'finished', notDone });
    if (finished === undefined) throw new Error('no entry');
    expect(inboxEntryText(finished.entry)).toBe('write it: completed, not all done.');
  });

  test('an ended task that no bridge delegated, or whose result is collected, is no entry', () => {
    expect(states([session({ state: 'completed' })], [])).toEqual([]);
  });

  test('the same task id at another agent is another task', () => {
    expect(states([session({ state: 'completed', agent: 'other' })], [task({})])).toEqual([]);
  });

  test('a waiting task comes first, and gets another key when it asks for something else', () => {
    expect(states([waits('one')], [task({ ended: 'completed' })])).toEqual([
      ['waiting', 'input-required'],
      ['finished', 'completed'],
    ]);
    expect(key('one')).toBe(key('one'));
    expect(key('one')).not.toBe(key('two'));
  });
});
