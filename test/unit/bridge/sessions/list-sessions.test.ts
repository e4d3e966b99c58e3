import { describe, expect, test } from '@jest/globals';
import {
  mergeListedSessions,
  sortSessionsForList,
  listedOutboxEntry,
  type UnmergedSession,
  withWorkspaces,
} from '../../../../bridge/sessions/list-sessions.ts';
import { outboxEntry } from '../../../support/outbox-entry.ts';

const told = (changes: Partial<UnmergedSession>): UnmergedSession => ({
  sessionId: 's',
  agent: 'a',
  taskId: 't1',
  state: 'working',
  title: 'Do it',
  updatedAt: '2026-01-01T00:00:00Z',
  notDone: '',
  pending: 0,
  codes: [],
  callIds: [],
  usd: null,
  messageIds: [],
  ...changes,
});

const delegation = (createdAt: string, workspace: string | undefined, agent = 'a') =>
  outboxEntry(createdAt, {
    createdAt,
    agent,
    state: { type: 'accepted', sessionId: 's', taskId: 't1' },
    settings: workspace === undefined ? {} : { workspace },
  });

describe('the list of sessions', () => {
  test('a session has the workspace of its newest delegation to the same agent', () => {
    const entries = [delegation('2', '/new'), delegation('1', '/old'), delegation('3', undefined)];
    const agents = [{ name: 'a', workspaceForUser: (path: string) => `/home${path}` }];
    expect(withWorkspaces([told({})], entries, agents)).toMatchObject([{ workspace: '/home/new' }]);
    expect(withWorkspaces([told({})], [delegation('1', '/w', 'other')], agents)).toEqual([told({})]);
  });

  test('the list has one line for each session, with its newest task', () => {
    const older = told({ taskId: 't1', state: 'completed', updatedAt: '2026-01-01T00:00:00Z' });
    const newer = told({ taskId: 't2', updatedAt: '2026-01-02T00:00:00Z' });
    for (const order of [
      [older, newer],
      [newer, older],
    ]) {
      expect(mergeListedSessions(order)).toMatchObject([{ sessionId: 's', taskId: 't2', state: 'working' }]);
    }
  });

  test('the newest task is the latest in time, whatever the zone and the digits of the times', () => {
    const earlier = told({ sessionId: 's', taskId: 't1', updatedAt: '2026-01-01T08:00:00+09:00' });
    const later = told({ sessionId: 's', taskId: 't2', updatedAt: '2026-01-01T00:00:00Z' });
    const latest = told({ sessionId: 'x', taskId: 't3', updatedAt: '2026-01-01T00:00:00.500Z' });
    const listed = mergeListedSessions([later, earlier, latest]);
    expect(listed.find(({ sessionId }) => sessionId === 's')).toMatchObject({ taskId: 't2' });
    expect(sortSessionsForList(listed).map((each) => each.sessionId)).toEqual(['x', 's']);
  });

  test('a line takes the state from the latest source, and title and time from any source', () => {
    const followed = told({ title: '', updatedAt: '', state: 'input-required', pending: 2 });
    expect(mergeListedSessions([told({ usd: 0.5 }), followed])).toMatchObject([
      { state: 'input-required', pending: 2, usd: 0.5, title: 'Do it', updatedAt: '2026-01-01T00:00:00Z' },
    ]);
  });

  test('the list has separate lines for sessions of two agents with the same id', () => {
    expect(mergeListedSessions([told({}), told({ agent: 'b' })])).toHaveLength(2);
  });

  test('R101 the list shows waiting sessions first, then the newest sessions', () => {
    const sessions = mergeListedSessions([
      told({}),
      told({ sessionId: 'x', updatedAt: '2027-01-01T00:00:00Z' }),
      told({ sessionId: 'old', updatedAt: '2020-01-01T00:00:00Z', state: 'input-required' }),
    ]);
    expect(sortSessionsForList(sessions).map((each) => each.sessionId)).toEqual(['old', 'x', 's']);
  });

  test('the line of an undelivered delegation has its message id, or the session that it continues', () => {
    const text = `A long task. ${'word '.repeat(100)}`;
    const entry = outboxEntry('m', { agent: 'a', title: 'A long task. word …', text });
    expect(listedOutboxEntry(entry)).toMatchObject({ sessionId: 'm', taskId: null, state: 'not-delivered' });
    expect(listedOutboxEntry(entry).title).toBe('A long task. word …');
    expect(listedOutboxEntry({ ...entry, sessionId: 's' }).sessionId).toBe('s');
    expect(
      listedOutboxEntry({ ...entry, state: { type: 'accepted', taskId: 't', sessionId: 'q' } }),
    ).toMatchObject({
      sessionId: 'q',
      taskId: 't',
    });
  });

  test('the list keeps the outcome and the topic of an ended session', () => {
    const entry = outboxEntry('m', { agent: 'a', text: '' });
    const collected = { type: 'collected', taskId: 't', sessionId: 'q' } as const;
    expect(listedOutboxEntry({ ...entry, state: { ...collected, ended: 'canceled' } })).toMatchObject({
      state: 'canceled',
      title: 'Do it',
    });
    const accepted = { ...entry, state: { type: 'accepted', taskId: 't', sessionId: 'q' } } as const;
    expect(listedOutboxEntry(accepted).state).toBe('unknown');
    expect(listedOutboxEntry(accepted, { isForgotten: true }).state).toBe('unknown-to-agent');
  });
});
