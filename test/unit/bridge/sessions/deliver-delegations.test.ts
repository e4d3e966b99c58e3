import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { StreamResponse, Task } from '@a2a-js/sdk';
import { Agent } from '../../../../bridge/agents/agent.ts';
import type { A2aConnection, CancelDetails } from '../../../../bridge/agents/connection.ts';
import { AgentRegistry } from '../../../../bridge/agents/agent-registry.ts';
import { DelegationService } from '../../../../bridge/sessions/deliver-delegations.ts';
import { LiveSessions } from '../../../../bridge/sessions/live-sessions.ts';
import { DecisionClaims } from '../../../../bridge/state/decision-claims.ts';
import { Outbox } from '../../../../bridge/state/outbox.ts';
import { WaitingResults } from '../../../../bridge/state/waiting-results.ts';
import { taskAsStreamResponse } from '../../../../bridge/agents/task-as-stream-response.ts';
import { Deferred } from '../../../../shared/runtime/deferred.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';
import { temporaryDatabase } from '../../../support/bridge-database.ts';
import { FakeTask, pendingWrite } from '../../../support/fake-agent-task.ts';
import { quietConnection } from '../../../support/quiet-connection.ts';

/** More sessions than `LiveSessions` keeps after their end. */
const MANY = 29;

/** An agent in memory. The test decides when it accepts a message, and how it answers a cancel. */
class SlowAgent extends Agent {
  task = new FakeTask('task-1', 'session-1', true).work();
  readonly cancels: CancelDetails[] = [];
  /** Returns the task that the bridge fetches. */
  read = (): Task => this.task.toTask();
  /** The number of received messages. */
  sent = 0;
  take: () => void = () => undefined;
  answerCancel: () => Promise<Task> = () => Promise.resolve(this.task.cancel().toTask());
  /**
   * If true, the connection breaks while the agent accepts a message. The agent then refuses requests for its card.
   */
  breaks = false;
  #refused: ProductError | undefined;
  /** No connection opens before this promise resolves. */
  reachable: Promise<void> = Promise.resolve();
  #taken = this.#held();

  constructor() {
    super('slow', () => Promise.reject(new Error('nobody is asked where it is')));
  }

  /** Makes the agent reachable again. */
  recover(): void {
    this.breaks = false;
    this.#refused = undefined;
  }

  /** After this call, the agent accepts a message only when the test allows it. */
  hold(): void {
    this.#taken = this.#held();
  }

  #held(): Promise<void> {
    return new Promise<void>((resolve) => (this.take = resolve));
  }

  override async connect(): Promise<A2aConnection> {
    await this.reachable;
    if (this.#refused !== undefined) throw this.#refused;
    return quietConnection({
      send: () => this.#answer(),
      follow: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      task: async () => this.read(),
      cancel: (_taskId, by) => {
        this.cancels.push(by);
        return this.answerCancel();
      },
      list: () => Promise.resolve({ tasks: [], total: 0 }),
    });
  }

  async *#answer(): AsyncIterable<StreamResponse> {
    this.sent += 1;
    if (this.breaks) {
      this.#refused = new ProductError('AGENT_ERROR', 'The card of the agent cannot be read.');
      throw new TypeError('fetch failed');
    }
    await this.#taken;
    yield { payload: { $case: 'task', value: this.task.toTask() } };
  }
}

describe('delegations that are not delivered yet', () => {
  let agent: SlowAgent;
  let outbox: Outbox;
  let live: LiveSessions;
  let delegations: DelegationService;

  beforeEach(async () => {
    agent = new SlowAgent();
    const database = await temporaryDatabase();
    outbox = new Outbox(database);
    const registry = new AgentRegistry(agent);
    live = new LiveSessions(outbox, new DecisionClaims(database));
    const log = createLogger({ name: 'test', level: 'silent' });
    delegations = new DelegationService({
      registry,
      outbox,
      results: new WaitingResults(database),
      live,
      log,
      directory: '/work',
      channel: 'mcp',
    });
  });
  afterEach(() => live.close());

  const entryOf = (messageId: string) => outbox.entries().find((entry) => entry.messageId === messageId);

  test('E3 B3 the cancel is on disk before the call returns, and counts as delivered only after the agent has cancelled', async () => {
    const confirm: (() => void)[] = [];
    const asked = new Promise<void>((resolve) => {
      agent.answerCancel = () => {
        resolve();
        return new Promise((answer) => confirm.push(() => answer(agent.task.cancel().toTask())));
      };
    });
    const { session, delivery } = await delegations.start(agent, { text: 'long', settings: {} });
    expect(await delegations.cancel(session, 'enough')).toBe('cancelled-when-known');
    expect(outbox.entries()).toMatchObject([{ cancel: 'enough', state: { type: 'sending' } }]);
    agent.take();
    await delivery;
    await asked;
    // If the bridge is killed at this moment, the next bridge takes over the entry and sends the cancel.
    const state = { type: 'accepted', taskId: 'task-1' };
    expect(outbox.entries()).toMatchObject([{ cancel: 'enough', state }]);
    for (const each of confirm) each();
    await delegations.settled();
    expect(outbox.entries()).toMatchObject([{ cancel: null, state }]);
    expect(session.view?.state).toBe('canceled');
    expect(agent.cancels).toEqual([{ reason: 'enough', channel: 'mcp' }]);
  });

  test('B1 a message that the agent has accepted is delivered, even if the agent cannot be reached directly after it', async () => {
    const { delivery } = await delegations.start(agent, { text: 'long', settings: {} });
    while (agent.sent === 0) await new Promise((resolve) => setImmediate(resolve));
    const unreachable = Promise.reject(new ProductError('AGENT_UNREACHABLE', 'It is away.'));
    unreachable.catch(() => undefined);
    agent.reachable = unreachable;
    agent.take();
    await delivery;
    await delegations.settled();
    expect(outbox.entries()).toMatchObject([{ state: { type: 'accepted', taskId: 'task-1' } }]);
  });

  test('R99 R100 a repeated call after the result "not delivered" joins the task', async () => {
    const work = { text: 'long', settings: {} };
    const asked = { agent: agent.name, ...work, sessionId: null };
    const { session, messageId, delivery } = await delegations.start(agent, work);
    const { signal } = new AbortController();
    const received = delegations.recordWaitingCall(messageId, signal);
    delegations.recordUndeliveredReply(session, signal);
    received();
    await delegations.settled();
    expect(await delegations.findUnanswered(asked)).toMatchObject({ messageId });
    agent.take();
    await delivery;
    await delegations.settled();
    expect(await delegations.findUnanswered(asked)).toMatchObject({ messageId });
  });

  test('A3 a task that ends before its cancel keeps its outcome, and the bridge closes the delegation as usual', async () => {
    agent.answerCancel = () => {
      agent.task.say('done').complete();
      return Promise.reject(new ProductError('TASK_ENDED', 'It has ended.'));
    };
    const { session, delivery } = await delegations.start(agent, { text: 'long', settings: {} });
    await delegations.cancel(session, 'enough');
    agent.take();
    await delivery;
    await delegations.settled();
    expect(session.view?.state).toBe('completed');
    expect(outbox.entries()).toMatchObject([{ state: { type: 'accepted' } }]);
    expect(await delegations.cancel(session, 'again')).toBe('ended-before');
  });

  test('E3 if a cancel fails when the agent names the task, it stays in the outbox, and the bridge sends it again later', async () => {
    agent.answerCancel = () => Promise.reject(new ProductError('AGENT_UNREACHABLE', 'It is away.'));
    const { session, delivery } = await delegations.start(agent, { text: 'long', settings: {} });
    await delegations.cancel(session, 'enough');
    agent.take();
    await delivery;
    await delegations.settled();
    const state = { type: 'accepted', taskId: 'task-1' };
    expect(outbox.entries()).toMatchObject([{ cancel: 'enough', state }]);
    agent.answerCancel = () => Promise.resolve(agent.task.cancel().toTask());
    await delegations.takeOverOrphaned();
    while (outbox.entries()[0]?.cancel !== null) await new Promise((resolve) => setImmediate(resolve));
    expect(outbox.entries()).toMatchObject([{ state }]);
    expect(session.view?.state).toBe('canceled');
  });

  test('the next result about the session reports a cancel that the agent refused', async () => {
    agent.answerCancel = () => Promise.reject(new ProductError('AGENT_ERROR', 'It cancels no task.'));
    const { session, delivery } = await delegations.start(agent, { text: 'long', settings: {} });
    await delegations.cancel(session, 'enough');
    agent.take();
    await delivery;
    await delegations.settled();
    expect(outbox.entries()).toMatchObject([{ cancel: null, state: { type: 'accepted' } }]);
    expect(session.takeNotes()).toEqual(['The task was not cancelled: It cancels no task.']);
  });

  test('a message that arrives while the bridge connects withdraws a recorded cancel', async () => {
    const { session, messageId, delivery } = await delegations.start(agent, { text: 'long', settings: {} });
    agent.take();
    await delivery;
    await delegations.settled();
    const reached = new Deferred<void>();
    agent.reachable = reached.promise;
    const cancelling = delegations.cancelMessage(session, messageId, 'the client has left');
    const entry = entryOf(messageId);
    if (entry === undefined) throw new Error('the outbox has lost the entry');
    await new Promise((resolve) => setImmediate(resolve));
    outbox.put({ ...entry, messageId: 'later', taskId: 'task-1', state: { type: 'sending' }, cancel: null });
    reached.resolve();
    await cancelling;
    expect(agent.cancels).toEqual([]);
    expect(entryOf(messageId)).toMatchObject({ cancel: null });
  });

  test('if the session’s task ends while the bridge connects, a message begins the next task', async () => {
    const { session, delivery } = await delegations.start(agent, { text: 'first', settings: {} });
    agent.take();
    await delivery;
    const connection = await agent.connect();
    const reached = new Deferred<void>();
    agent.reachable = reached.promise;
    const goingOn = delegations.continueSession(session, { text: 'go on', settings: {} });
    session.applyEvent(taskAsStreamResponse(agent.task.cancel().toTask()), connection);
    agent.task = new FakeTask('task-2', 'session-1', true).work();
    reached.resolve();
    const next = await goingOn;
    expect(entryOf(next.messageId)).toMatchObject({ sessionId: 'session-1', taskId: null });
    await next.delivery;
  });

  test('the bridge does not send a delegation again that is cancelled while the bridge connects', async () => {
    const { session, messageId, delivery } = await delegations.start(agent, { text: 'long', settings: {} });
    agent.take();
    await delivery;
    await delegations.settled();
    const entry = entryOf(messageId);
    if (entry === undefined) throw new Error('the outbox has lost the entry');
    outbox.put({ ...entry, messageId: 'left', state: { type: 'sending' } });
    const reached = new Deferred<void>();
    agent.reachable = reached.promise;
    agent.sent = 0;
    await delegations.takeOverOrphaned();
    const left = live.find('left');
    expect(left).not.toBe(session);
    if (left === undefined) throw new Error('the delegation was not taken over');
    expect(await delegations.cancel(left, 'enough')).toBe('cancelled-when-known');
    reached.resolve();
    await delegations.recover();
    expect(entryOf('left')).toBeUndefined();
    expect(agent.sent).toBe(0);
  });

  test('R48 a message to a session is not sent if its call is cancelled while the bridge connects', async () => {
    const { session, delivery } = await delegations.start(agent, { text: 'first', settings: {} });
    agent.take();
    await delivery;
    await delegations.settled();
    const reached = new Deferred<void>();
    agent.reachable = reached.promise;
    agent.sent = 0;
    let cancelled = false;
    const goingOn = delegations.continueSession(session, { text: 'go on', settings: {} }, () => {
      if (cancelled) throw new Error('the call is cancelled');
    });
    cancelled = true;
    reached.resolve();
    await expect(goingOn).rejects.toThrow('the call is cancelled');
    expect(outbox.entries()).toHaveLength(1);
    expect(agent.sent).toBe(0);
  });

  test('A4 the bridge cancels a known task at once, and only once', async () => {
    const { session, delivery } = await delegations.start(agent, { text: 'long', settings: {} });
    agent.take();
    await delivery;
    expect(await delegations.cancel(session, 'enough')).toBe('cancelled');
    await delegations.settled();
    expect(agent.cancels).toEqual([{ reason: 'enough', channel: 'mcp' }]);
  });

  /** Creates a session whose task waits, and whose agent accepts a cancel before the task has ended. */
  async function waiting() {
    agent.task.ask(pendingWrite('one'));
    const { session, delivery } = await delegations.start(agent, { text: 'long', settings: {} });
    agent.take();
    await delivery;
    await delegations.settled();
    agent.answerCancel = () => Promise.resolve(agent.task.toTask());
    return session;
  }

  test('A3 the bridge fetches a waiting task until it has ended, if the agent accepts a cancel before', async () => {
    const session = await waiting();
    const reads: (() => Task)[] = [
      () => agent.task.toTask(),
      () => {
        throw new ProductError('AGENT_UNREACHABLE', 'The agent is busy.');
      },
    ];
    agent.read = () => reads.shift()?.() ?? agent.task.cancel().toTask();
    agent.answerCancel = () => {
      reads.push(() => agent.task.toTask());
      return Promise.resolve(agent.task.toTask());
    };
    expect(await delegations.cancel(session, 'enough')).toBe('cancelled');
    expect(session.stateName).toBe('canceled');
    expect(reads).toEqual([]);
  });

  test('a caller that no longer waits gets the outcome at once, after the agent has accepted the cancel', async () => {
    const session = await waiting();
    let reads = 0;
    agent.read = () => {
      reads += 1;
      return agent.task.toTask();
    };
    expect(await delegations.cancel(session, 'enough', AbortSignal.abort())).toBe('cancelling');
    expect(agent.cancels).toHaveLength(1);
    // The only read is the one before the cancel.
    expect(reads).toBe(1);
  });

  /** Creates a session whose task has ended, and whose next message may have arrived. */
  async function postponed() {
    agent.task.say('done').complete();
    const { session, delivery } = await delegations.start(agent, { text: 'first', settings: {} });
    agent.take();
    await delivery;
    await delegations.settled();
    agent.breaks = true;
    const next = await delegations.continueSession(session, { text: 'go on', settings: {} });
    const error: unknown = await next.delivery.catch((thrown: unknown) => thrown);
    return { session, messageId: next.messageId, error };
  }

  test('R99 if a message may have arrived, the error names the session, and says that a repeated call is safe', async () => {
    const { session, error } = await postponed();
    expect(error).toMatchObject({
      message: expect.stringContaining('Repeating the same call is safe'),
      facts: { sessionId: 'session-1' },
    });
    expect(session.stateName).toBe('not-delivered');
    expect(
      await delegations.findUnanswered({
        agent: agent.name,
        text: 'go on',
        settings: {},
        sessionId: 'session-1',
      }),
    ).toBeDefined();
  });

  test('R99 the bridge sends a postponed message to a session again in that session, not in a second one', async () => {
    const { session, messageId } = await postponed();
    agent.recover();
    agent.task = new FakeTask('task-2', 'session-1', true).work();
    await delegations.recover();
    expect(live.all).toEqual([session]);
    expect(session.view).toMatchObject({ taskId: 'task-2', state: 'working' });
    expect(entryOf(messageId)).toMatchObject({ state: { type: 'accepted', taskId: 'task-2' } });
  });

  test('R99 a cancel stops a postponed message to a session, and the bridge does not send it again', async () => {
    const { session, messageId } = await postponed();
    expect(await delegations.cancel(session, 'enough')).toBe('cancelled-when-known');
    expect(entryOf(messageId)).toMatchObject({ cancel: 'enough' });
    agent.recover();
    await delegations.recover();
    expect(entryOf(messageId)).toBeUndefined();
    expect(session.stateName).toBe('completed');
    expect(live.all).toEqual([session]);
  });

  test.each(['the bridge connects', 'the agent answers'])(
    'B1 a message to an ended session arrives, even if more sessions end than memory keeps while %s',
    async (when) => {
      agent.task.say('done').complete();
      const { session, delivery } = await delegations.start(agent, { text: 'first', settings: {} });
      agent.take();
      await delivery;
      await delegations.settled();
      expect(session.over).toBe(true);

      agent.hold();
      agent.task = new FakeTask('task-2', 'session-1', true).work();
      const connection = await agent.connect();
      const reached = new Deferred<void>();
      if (when === 'the bridge connects') agent.reachable = reached.promise;
      const goingOn = delegations.continueSession(session, { text: 'go on', settings: {} });
      if (when === 'the agent answers') await goingOn;
      for (let n = 0; n < MANY; n += 1) {
        const ended = live.open(agent, `message-${String(n)}`);
        const task = new FakeTask(`ended-${String(n)}`, `other-${String(n)}`, true).work().complete();
        ended.applyEvent(taskAsStreamResponse(task.toTask()), connection);
        live.add(ended);
      }
      expect(live.all.length).toBeLessThan(MANY);
      expect(live.all).toContain(session);
      reached.resolve();
      const next = await goingOn;
      expect(entryOf(next.messageId)).toMatchObject({ state: { type: 'sending' } });

      agent.take();
      await next.delivery;
      await delegations.settled();
      expect(entryOf(next.messageId)).toMatchObject({ state: { type: 'accepted', taskId: 'task-2' } });
      expect(session.view).toMatchObject({ taskId: 'task-2', state: 'working' });
      expect(live.find('task-2')).toBe(session);
    },
  );
});
