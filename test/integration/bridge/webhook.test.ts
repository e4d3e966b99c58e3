import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from '../../../bridge/agents/agent.ts';
import { sendDecisions } from '../../../bridge/approvals/send-decisions.ts';
import { buildUserMessage } from '../../../bridge/sessions/delegation-message.ts';
import { Session } from '../../../bridge/sessions/session/session.ts';
import { DecisionClaims } from '../../../bridge/state/decision-claims.ts';
import { WebhookPosts } from '../../../bridge/state/webhook-posts.ts';
import { openDatabase, rowIn, rowsIn } from '../../support/bridge-database.ts';
import { type WebhookTimings, sendWebhookPost } from '../../../bridge/approvals/webhook/post.ts';
import { SessionWebhookPosts } from '../../../bridge/approvals/webhook/session-posts.ts';
import { createLogger } from '../../../shared/runtime/logging.ts';
import { FakeAgent } from '../../support/fake-agent.ts';
import { type FakeTask, pendingWrite } from '../../support/fake-agent-task.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { asJson, type WebhookReply, WebhookReceiver } from '../../support/webhook-receiver.ts';
import { signal } from '../../support/signal.ts';
import { decisionChannels } from './support/decision-channels.ts';

const AFTER_MS = 30_000;
const QUICK: WebhookTimings = {
  backOff: { retries: 3, minTimeout: 1, maxTimeout: 5, factor: 2, randomize: false },
  answerMs: 60_000,
};
const approval = (...callIds: string[]): WebhookReply =>
  asJson({
    decisions: callIds.map((callId) => ({
      callId,
      shown: `hash-of-${callId}`,
      decision: 'approve',
      reason: 'seen',
    })),
  });

const completes = (task: FakeTask): FakeTask => task.work().complete();

describe('the approval webhook', () => {
  let agent: FakeAgent;
  let receiver: WebhookReceiver;
  let clock: FakeClock;
  let path: string;
  let claims: DecisionClaims;
  const open: { close(): void }[] = [];
  /** Defines what the agent does after the last decision. */
  let onDecided: (task: FakeTask) => unknown = completes;

  beforeEach(async () => {
    agent = await FakeAgent.start({
      onMessage: (task, text) => task.work().ask(...text.split(' ').map((callId) => pendingWrite(callId))),
      onDecisions: (task, decisions) => {
        for (const { callId, decision } of decisions) task.say(`${callId}: ${decision}. `);
        if (task.pending.length === 0) onDecided(task);
      },
    });
    receiver = await WebhookReceiver.start();
    clock = new FakeClock();
    path = await mkdtemp(join(tmpdir(), 'webhook-'));
    claims = new DecisionClaims(await openDatabase(path));
  });
  afterEach(async () => {
    for (const each of open.splice(0)) each.close();
    await agent.stop();
    await receiver.stop();
    onDecided = completes;
    // The bridge may still write to the database, so the removal tries again.
    await rm(path, { recursive: true, force: true, maxRetries: 10 });
  });

  function sessionWith(): Session {
    const endpoint = { url: agent.url, headers: {} };
    const session = new Session(new Agent('fake', async () => endpoint), randomUUID(), {
      claims,
    });
    open.push(session);
    return session;
  }

  /** Starts a session whose task waits for these calls, with its webhook posts. */
  async function waiting(
    callIds: string,
    { timings = QUICK, rows }: { timings?: WebhookTimings; rows?: WebhookPosts } = {},
  ): Promise<{ session: Session; posts: SessionWebhookPosts }> {
    const session = sessionWith();
    const ids = { messageId: session.firstMessageId, sessionId: null, taskId: null };
    const posts = await postsAbout(session, timings, rows);
    const settled = untilSettled(session);
    await session.deliver((dialect) => buildUserMessage(dialect.phraseTask(callIds, {}), ids));
    await settled;
    return { session, posts };
  }

  async function postsAbout(
    session: Session,
    timings = QUICK,
    rows?: WebhookPosts,
  ): Promise<SessionWebhookPosts> {
    const posts = new SessionWebhookPosts(session, {
      afterMs: AFTER_MS,
      receiver: () => Promise.resolve({ url: receiver.url, secret: receiver.secret, headers: {} }),
      body: ({ notice }) => JSON.stringify(notice),
      decides: true,
      timings,
      rows: rows ?? new WebhookPosts(await openDatabase(path)),
      title: () => 'Write it',
      clock,
      log: createLogger({ name: 'test', level: 'silent' }),
    });
    open.push(posts);
    return posts;
  }

  test('an action whose post could not be recorded is posted later, and no action is posted twice', async () => {
    const rows = new WebhookPosts(await openDatabase(path));
    const take = rows.take.bind(rows);
    const failed = signal();
    let tries = 0;
    rows.take = (about) => {
      tries += 1;
      if (tries !== 2) return take(about);
      failed.happen();
      return Promise.reject(new Error('database is locked'));
    };
    await waiting('one two three', { rows });
    clock.advance(AFTER_MS);
    await failed.happened;
    await receiver.got('approval.asked');
    expect(tries).toBe(3);
    clock.advance(AFTER_MS);
    await receiver.got('approval.asked', 2);
    expect(tries).toBe(4);
  });

  test('if an action waits too long, the bridge posts it once, signed, with everything that a person needs to decide', async () => {
    const { session } = await waiting('one two');
    clock.advance(AFTER_MS - 1);
    expect(receiver.posts).toEqual([]);
    clock.advance(1);
    const { genuine, headers, data } = await receiver.got('approval.asked');
    expect(genuine).toBe(true);
    expect(headers['webhook-id']).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(data).toMatchObject({
      sessionId: session.id,
      agent: 'fake',
      title: 'Write it',
      taskId: 'task-1',
      pending: [
        {
          callId: 'one',
          title: 'Write one.md',
          preview: expect.stringContaining('+hello'),
          cut: 0,
          decisions: ['approve', 'deny', 'edit', 'trust_tool', 'trust_always'],
        },
        { callId: 'two' },
      ],
      question: null,
      howToDecide: {
        commandLines: ['mcp-a2a-bridge approve hash-of-one', 'mcp-a2a-bridge approve hash-of-two'],
      },
    });
    expect(clock.pending).toBe(0);
    // The receiver must learn the decision on one action, and must not get the other action again.
    await decide(session, 'one', 'deny');
    expect((await receiver.got('approval.decided')).data).toMatchObject({
      decided: [{ callId: 'one' }],
      waiting: ['two'],
      state: 'input_required',
    });
    await decide(session, 'two', 'approve');
    expect((await receiver.got('approval.decided', 2)).data).toMatchObject({
      decided: [{ callId: 'two' }],
      waiting: [],
    });
    expect(receiver.of('approval.asked')).toHaveLength(1);
    expect(receiver.posts.every((each) => each.genuine)).toBe(true);
  });

  test('D2 the webhook’s answer to a post cannot decide an action that the post does not list', async () => {
    const callIds = Array.from({ length: 51 }, (_, index) => `c${String(index)}`);
    receiver.answering = ({ type }) => (type === 'approval.asked' ? approval('c50') : undefined);
    const { session } = await waiting(callIds.join(' '));
    clock.advance(AFTER_MS);
    expect((await receiver.got('approval.asked')).data).toMatchObject({ more: 1 });
    await rowIn(path, `SELECT 1 FROM webhook_posts WHERE state = 'asked'`);
    await session.fetchTask();
    expect(session.view?.pending).toHaveLength(51);
    expect(agent.decisions).toEqual([]);
  });

  test('a post about a decision has the state "working" until the agent continues', async () => {
    const { session } = await waiting('one');
    clock.advance(AFTER_MS);
    await receiver.got('approval.asked');
    const one = { callId: 'one', tool: 'write-file', title: 'Write one.md' };
    onDecided = (task) =>
      task.activity({ type: 'tool.decided', ...one, decision: 'approve', by: 'ada', channel: 'tool' });
    // The task does not end or wait in this test. So this promise never resolves.
    void decide(session, 'one', 'approve');
    expect((await receiver.got('approval.decided')).data).toMatchObject({ waiting: [], state: 'working' });
  });

  test('the bridge posts nothing about an action that was decided before the waiting time was over', async () => {
    const { session } = await waiting('one');
    await decide(session, 'one', 'approve');
    expect(clock.pending).toBe(0);
    clock.advance(AFTER_MS);
    expect(receiver.posts).toEqual([]);
  });

  test('the bridge posts nothing if it learns before the post that another client has decided', async () => {
    const { session } = await waiting('one');
    const other = sessionWith();
    other.applyEvent({ payload: { $case: 'task', value: agent.task.toTask() } }, await other.agent.connect());
    await decide(other, 'one', 'approve');
    clock.advance(AFTER_MS);
    await until(session, () => session.view?.state === 'completed');
    expect(await rowsIn(path, 'SELECT * FROM webhook_posts')).toEqual([]);
    expect(receiver.posts).toEqual([]);
  });

  test('D1 the webhook’s answer to a post decides over the channel "webhook", and the bridge posts this decision too', async () => {
    receiver.answering = ({ type }) => (type === 'approval.asked' ? approval('one') : undefined);
    await waiting('one');
    clock.advance(AFTER_MS);
    const told = await receiver.got('approval.decided');
    expect(told.data).toMatchObject({ decided: [{ callId: 'one' }], waiting: [] });
    expect(agent.decisions).toMatchObject([
      { callId: 'one', shown: 'hash-of-one', decision: 'approve', reason: 'seen' },
    ]);
    expect(decisionChannels(agent)).toEqual(['webhook']);
  });

  test.each<[string, WebhookReply]>([
    ['another word', asJson({ decisions: [{ callId: 'one', shown: 'hash-of-one', decision: 'yes' }] })],
    [
      'a word in capitals',
      asJson({ decisions: [{ callId: 'one', shown: 'hash-of-one', decision: 'Approve' }] }),
    ],
    [
      'a key too many',
      asJson({ decisions: [{ callId: 'one', shown: 'hash-of-one', decision: 'approve' }], and: 'more' }),
    ],
    [
      'another call',
      asJson({ decisions: [{ callId: 'other', shown: 'hash-of-other', decision: 'approve' }] }),
    ],
    ['a call twice', approval('one', 'one')],
    [
      'an edit without a text',
      asJson({ decisions: [{ callId: 'one', shown: 'hash-of-one', decision: 'edit' }] }),
    ],
    ['no list', asJson({ decision: 'approve', callId: 'one' })],
    ['half a JSON', { ...asJson({}), body: '{"decisions":[{"callId":"one"' }],
    [
      'a JSON of another type',
      { status: 200, headers: { 'content-type': 'text/plain' }, body: String(approval('one').body) },
    ],
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>approve</p>' }],
    ['megabytes', { ...asJson({}), body: `{"decisions":"${'x'.repeat(2 * 1024 * 1024)}"}` }],
    ['a refusal', { status: 403, body: 'approve' }],
  ])(
    'D1 if the webhook’s answer has %s, nothing is decided, and the action stays pending',
    async (_, reply) => {
      receiver.answering = ({ type }) => (type === 'approval.asked' ? reply : undefined);
      const { session } = await waiting('one');
      clock.advance(AFTER_MS);
      await receiver.got('approval.asked');
      if (reply.status === 200 && (reply.body?.length ?? 0) < 1000) {
        // The bridge has read the answer. So any decision from it would already be at the agent.
        await rowIn(path, `SELECT 1 FROM webhook_posts WHERE state = 'asked'`);
      }
      await session.fetchTask();
      expect(session.view?.pending).toMatchObject([{ callId: 'one' }]);
      expect(agent.decisions).toEqual([]);
      await decide(session, 'one', 'approve');
      expect(decisionChannels(agent)).toEqual(['tool']);
    },
  );

  test('the bridge does not follow a redirect, so a post reaches no other address', async () => {
    const elsewhere = await WebhookReceiver.start(() => approval('one'));
    receiver.answering = () => ({ status: 307, headers: { location: elsewhere.url } });
    const { url, secret } = receiver;
    const notice = { type: 'approval.asked', timestamp: '', data: {} };
    const posting = sendWebhookPost(
      { id: 'msg_1', body: JSON.stringify(notice), signal: new AbortController().signal },
      () => Promise.resolve({ url, secret, headers: {} }),
      QUICK,
    );
    await expect(posting).rejects.toThrow(/it redirects \(HTTP 307\), which is not followed/);
    expect(elsewhere.posts).toEqual([]);
    expect(receiver.posts).toHaveLength(1);
    await elsewhere.stop();
  });

  test('after an error the bridge posts again with the same id', async () => {
    receiver.answering = ({ type }) => {
      if (type !== 'approval.asked') return undefined;
      return receiver.of(type).length < 3 ? { status: 503 } : approval('one');
    };
    await waiting('one');
    clock.advance(AFTER_MS);
    await receiver.got('approval.decided');
    const ids = receiver.of('approval.asked').map(({ headers }) => headers['webhook-id']);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
    expect(agent.decisions).toHaveLength(1);
  });

  test('the bridge stops posting to a webhook that never answers, and other decisions do not wait for it', async () => {
    receiver.answering = () => new Promise(() => undefined);
    // The limit is long enough for each post to arrive on a slow machine.
    const { session } = await waiting('one', { timings: { ...QUICK, answerMs: 500 } });
    clock.advance(AFTER_MS);
    const last = await receiver.got('approval.asked', 1 + QUICK.backOff.retries);
    await last.gone;
    await decide(session, 'one', 'approve');
    expect(session.view?.state).toBe('completed');
  });

  test('a decision over another channel aborts a post without an answer, and the bridge posts the decision', async () => {
    receiver.answering = ({ type }) => (type === 'approval.asked' ? new Promise(() => undefined) : undefined);
    const { session } = await waiting('one');
    clock.advance(AFTER_MS);
    const asked = await receiver.got('approval.asked');
    await decide(session, 'one', 'deny');
    await asked.gone;
    expect((await receiver.got('approval.decided')).data).toMatchObject({
      decided: [{ callId: 'one' }],
    });
  });

  test('one of two bridges posts a pending action, and a cancel of the task is posted too', async () => {
    await waiting('one');
    const other = sessionWith();
    other.applyEvent({ payload: { $case: 'task', value: agent.task.toTask() } }, await other.agent.connect());
    await postsAbout(other);
    clock.advance(AFTER_MS);
    await receiver.got('approval.asked');
    agent.task.cancel();
    expect((await receiver.got('approval.decided')).data).toMatchObject({
      decided: [{ callId: 'one', decision: null }],
      state: 'cancelled',
    });
    expect(receiver.posts).toHaveLength(2);
    expect(await rowsIn(path, 'SELECT state FROM webhook_posts')).toEqual([['over']]);
  });

  test('postImmediately() posts a pending action at once', async () => {
    const { posts } = await waiting('one');
    posts.postImmediately();
    clock.advance(0);
    await receiver.got('approval.asked');
  });
});

async function decide(session: Session, callId: string, decision: 'approve' | 'deny'): Promise<void> {
  const shown = `hash-of-${callId}`;
  const verdict = { callId, shown, decision, scope: 'once' } as const;
  await sendDecisions(session, [{ type: 'decision', decision: verdict }], 'tool');
  await untilSettled(session);
}

const untilSettled = (session: Session): Promise<void> => until(session, () => session.settled);

/** Resolves as soon as the condition holds. */
async function until(session: Session, holds: () => boolean): Promise<void> {
  if (holds()) return;
  await new Promise<void>((resolve) => {
    const stop = session.listen(() => {
      if (!holds()) return;
      stop();
      resolve();
    });
  });
}
