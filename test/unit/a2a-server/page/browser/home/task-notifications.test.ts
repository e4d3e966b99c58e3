import { expect, it } from '@jest/globals';
import { taskNotifications } from '../../../../../../a2a-server/page/browser/home/task-notifications.ts';
import { waitingLine, waitingRisks } from '../../../../../../a2a-server/page/browser/home/task-risks.ts';
import type { WaitingFor } from '../../../../../../shared/protocol/task-groups.ts';
import { sampleTask } from '../sample-task.ts';

type Action = Extract<WaitingFor, { type: 'actions' }>['first'][number];

const action = (callId: string, changed: Partial<Action> = {}): Action => ({
  callId,
  tool: 'run-shell-command',
  title: `Run \`export TOKEN=secret-${callId}\``,
  shown: '0a1b2c3d',
  sideEffect: 'command',
  reason: 'approval',
  ...changed,
});
const actions = (...first: Action[]): WaitingFor => ({ type: 'actions', count: first.length, first });

const keyOf = (shown: string): string | undefined =>
  taskNotifications([sampleTask('t', { waitingFor: actions(action('a', { shown })) })])[0]?.key;

it('a notification names the kind of action and the task, and contains nothing of the action itself', () => {
  const waitingFor = actions(action('a'), action('b', { reason: 'question', sideEffect: 'none' }));
  const found = taskNotifications([sampleTask('t', { state: 'waiting', waitingFor }), sampleTask('ended')]);
  expect(found).toEqual([
    { taskId: 't', key: 't a 0a1b2c3d', title: 'The agent wants to run a command', body: 'do t' },
    { taskId: 't', key: 't b 0a1b2c3d', title: 'The agent asks a question', body: 'do t' },
  ]);
  expect(JSON.stringify(found)).not.toContain('secret');
});

it('a notification shows hidden characters of a title, and cuts a long title', () => {
  const title = `a\u202E${'x'.repeat(200)}`;
  const [first] = taskNotifications([
    sampleTask('t', { title, waitingFor: { type: 'reply', text: 'Which?' } }),
  ]);
  expect(first?.title).toBe('The agent waits for your message');
  expect(first?.body).not.toContain('\u202E');
  expect(first?.body.length).toBeLessThan(100);
});

it('the same question asked again is another attention', () => {
  expect(keyOf('00000000')).not.toBe(keyOf('11111111'));
});

it('a row names the risks of all its actions once, the high ones first, and none for a question', () => {
  const edit = action('e', { tool: 'write-file', sideEffect: 'files' });
  expect(waitingRisks(actions(edit, action('a'), action('b')))).toEqual([
    { text: 'runs a command', high: true },
    { text: 'changes files', high: false },
  ]);
  expect(waitingRisks(actions(action('q', { reason: 'question' })))).toEqual([]);
  expect(waitingRisks({ type: 'reply', text: '' })).toEqual([]);
});

it('a row says in one line what the task waits for', () => {
  expect(waitingLine({ type: 'actions', count: 3, first: [action('a', { title: 'Write a.md' })] })).toBe(
    'Write a.md, and 2 more',
  );
  expect(waitingLine({ type: 'reply', text: 'Which colour?' })).toBe('Which colour?');
  expect(waitingLine({ type: 'reply', text: '' })).toBe('Your next message');
  expect(waitingLine({ type: 'sign-in', text: '' })).toBe('A sign-in');
});
