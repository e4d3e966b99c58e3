import { describe, expect, test } from '@jest/globals';
import { chatNotice } from '../../../../a2a-server/push/chat-notice.ts';
import {
  chatSubscriptions,
  type ChatWebhook,
  chatWebhookSchema,
} from '../../../../a2a-server/push/chat-webhooks.ts';
import { chatHeaders } from '../../../../a2a-server/push/push-subscription.ts';
import { readNextPushPosts } from '../../../../a2a-server/push/next-posts.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { foldAll } from '../../../../a2a-server/task/fold.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';

const SLACK = { format: 'slack', url: 'https://hooks.example.com/services/secret' };

describe('the settings of a chat webhook', () => {
  test.each([
    [SLACK, true],
    [{ ...SLACK, url: 'http://127.0.0.1:8080/hook' }, true],
    [{ ...SLACK, url: 'http://chat.example.com/hook' }, false],
    [{ ...SLACK, url: 'http://chat.example.com/hook', allowHttp: true }, true],
    [{ ...SLACK, url: 'ftp://chat.example.com/hook' }, false],
    [{ ...SLACK, format: 'json' }, false],
    [{ format: 'ntfy', url: 'https://ntfy.sh/a-topic' }, true],
    [{ format: 'ntfy', url: 'https://ntfy.sh/' }, false],
    [{ ...SLACK, afterSeconds: -1 }, false],
    [{ ...SLACK, tokenEnv: 'CHAT_TOKEN' }, true],
    [{ ...SLACK, tokenEnv: 'not a name' }, false],
  ])('%j is valid: %p', (given, isValid) => {
    expect(chatWebhookSchema.safeParse(given).success).toBe(isValid);
  });

  test('a webhook of a tenant gets the tasks of this tenant only, and has another id after a change', () => {
    const webhooks: ChatWebhook[] = [SLACK, { ...SLACK, tenant: 'acme' }, { ...SLACK, afterSeconds: 5 }].map(
      (each) => chatWebhookSchema.parse(each),
    );
    const of = (principal: string) =>
      chatSubscriptions(webhooks, { taskId: 't', sessionId: 's', principal, title: 'Paint' }, 7);
    expect(of('acme/ann')).toHaveLength(3);
    const other = of('beta/acme');
    expect(other.map(([, { chat }]) => chat)).toEqual([
      { title: 'Paint', afterMs: 30_000 },
      { title: 'Paint', afterMs: 5_000 },
    ]);
    expect(new Set(other.map(([name]) => name)).size).toBe(2);
    expect(other[0]?.[1]).toMatchObject({ principal: '(operator)', owner: 'beta/acme', wire: 'slack' });
  });
});

const CREATED: TaskEvent = {
  type: 'task.created',
  sessionId: 'session-1',
  principal: 'acme/ann',
  settings: {},
};
const WRITE = pendingWrite('call-1', { title: 'Write test.md' });
const ASKS: TaskEvent[] = [
  CREATED,
  { type: 'task.working' },
  { type: 'turn.started', turn: 1, model: 'scripted' },
  {
    type: 'tool.requested',
    turn: 1,
    call: { ...WRITE, inputHash: 'abc', modelCallId: 'x', basis: null },
    verdict: { type: 'ask' },
  },
  { type: 'turn.finished', turn: 1, end: 'tool-calls', usage: { inputTokens: 3, outputTokens: 4 } },
  { type: 'input.required', pending: [WRITE] },
];

const entriesOf = (events: readonly TaskEvent[]) =>
  events.map((event, index) => ({ seq: index + 1, at: 1_000, event }));

function after(...events: TaskEvent[]): Snapshot {
  const snapshot = foldAll('task-1', entriesOf(events));
  if (snapshot === undefined) throw new Error('the task was not created');
  return snapshot;
}

describe('the message of a chat', () => {
  test.each<[string, TaskEvent[], string | undefined, string[]]>([
    ['is new', [CREATED], undefined, []],
    ['works', [CREATED, { type: 'task.working' }], undefined, []],
    ['waits for a decision', ASKS, 'A task waits for a decision', [`${WRITE.tool}: Write test.md`]],
    [
      'asks a question',
      [CREATED, { type: 'input.required', pending: [], question: 'Which\ncolour?' }],
      'A task waits for a decision',
      ['Question: '],
    ],
    [
      'needs a sign-in',
      [CREATED, { type: 'auth.required', question: 'To the shop' }],
      'A task waits for a decision',
      ['Sign in: To the shop'],
    ],
    ['has failed', [CREATED, { type: 'task.failed', message: 'no' }], 'A task has ended: failed', []],
  ])('a task that %s', (_what, events, title, actions) => {
    const message = chatNotice(after(...events), 'Paint', 'https://agent.example.com/page');
    expect(message?.title).toBe(title);
    if (message === undefined) return;
    expect(message.lines).toEqual([
      'acme/ann, session-1: Paint',
      ...actions.map((text) => expect.stringContaining(text)),
    ]);
    expect(message.page).toBe('https://agent.example.com/page');
    // D5: neither the preview nor the code of the action.
    expect(JSON.stringify(message)).not.toMatch(/\+hello|"shown"|abc/);
  });

  test('a chat gets a message when a task has waited long enough, at once when it has ended, and none meanwhile', async () => {
    const [named] = chatSubscriptions(
      [chatWebhookSchema.parse({ ...SLACK, afterSeconds: 30 })],
      { taskId: 'task-1', sessionId: 'session-1', principal: 'acme/ann', title: 'Paint' },
      0,
    );
    if (named === undefined) throw new Error('the webhook covers the task');
    const next = (events: TaskEvent[], now: number, cursor: number | null) => {
      const snapshot = after(...events);
      const { seq, status } = snapshot;
      const row = { ...snapshot, state: status.state, title: '', deadline: null, seq };
      return readNextPushPosts(
        {
          tasks: {
            row: async () => row,
            snapshot: async () => snapshot,
            entries: async (_task, _by, { after: from }) => entriesOf(events).slice(from),
          },
          bodies: {
            ofTask: (it) => chatNotice(it, '', 'page')?.title,
            ofEntry: () => 'no chat gets single events',
          },
          clock: { now: () => now },
        },
        { ...named[1], cursor },
      );
    };
    expect(await next([CREATED], 1_000, null)).toEqual([{ seq: 1, body: undefined }]);
    expect(await next(ASKS, 30_999, 1)).toEqual({ until: 31_000 });
    expect(await next(ASKS, 31_000, 1)).toEqual([{ seq: 6, body: 'A task waits for a decision' }]);
    expect(await next(ASKS, 31_000, 6)).toBe('over');
    expect(await next([...ASKS, { type: 'task.working' }], 31_000, 7)).toBe('nothing');
    expect(await next([...ASKS, { type: 'task.working' }], 31_000, 1)).toEqual([{ seq: 7, body: undefined }]);
    expect(await next([...ASKS, { type: 'task.completed' }], 1_001, 6)).toEqual([
      { seq: 7, body: 'A task has ended: completed' },
    ]);
    expect(await next([...ASKS, { type: 'task.completed' }], 1_001, 7)).toBe('over');
  });
});

test('a post has the token of the chat’s variable, and fails without it', () => {
  const [named] = chatSubscriptions(
    [chatWebhookSchema.parse({ format: 'ntfy', url: 'https://ntfy.sh/a-topic', tokenEnv: 'CHAT_TOKEN' })],
    { taskId: 'task-1', sessionId: 'session-1', principal: 'acme/ann', title: '' },
    0,
  );
  const chat = named?.[1].chat;
  const json = { 'content-type': 'application/json' };
  expect(chatHeaders({ chat }, { CHAT_TOKEN: 'a-token' })).toEqual({
    ...json,
    authorization: 'Bearer a-token',
  });
  expect(() => chatHeaders({ chat }, { CHAT_TOKEN: '' })).toThrow('CHAT_TOKEN');
  expect(chatHeaders({ chat: { title: '', afterMs: 0 } }, {})).toEqual(json);
});
