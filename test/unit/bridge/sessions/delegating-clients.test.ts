import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { StreamResponse } from '@a2a-js/sdk';
import { Agent } from '../../../../bridge/agents/agent.ts';
import type { A2aConnection } from '../../../../bridge/agents/connection.ts';
import { AgentRegistry } from '../../../../bridge/agents/agent-registry.ts';
import { taskAsStreamResponse } from '../../../../bridge/agents/task-as-stream-response.ts';
import { DelegatingClients, type ClientConnection } from '../../../../bridge/sessions/delegating-clients.ts';
import { DelegationService } from '../../../../bridge/sessions/deliver-delegations.ts';
import { LiveSessions } from '../../../../bridge/sessions/live-sessions.ts';
import type { Session } from '../../../../bridge/sessions/session/session.ts';
import { DecisionClaims } from '../../../../bridge/state/decision-claims.ts';
import { Outbox } from '../../../../bridge/state/outbox.ts';
import { WaitingResults } from '../../../../bridge/state/waiting-results.ts';
import { Deferred } from '../../../../shared/runtime/deferred.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';
import { endedProcessId, openDatabase } from '../../../support/bridge-database.ts';
import { FakeTask } from '../../../support/fake-agent-task.ts';
import { quietConnection } from '../../../support/quiet-connection.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const WORK = { text: 'long', settings: {} };
const BY = 'the client closed the connection';

/** An agent in memory with one session. It accepts every message at once. */
class OneSession extends Agent {
  task = new FakeTask('task-1', 'session-1', true).work();
  readonly cancelled: string[] = [];
  /** The agent accepts no message before this promise resolves. */
  takes: Promise<void> = Promise.resolve();
  /** The agent confirms no cancel before this promise resolves. */
  answers: Promise<void> = Promise.resolve();

  constructor() {
    super('one', () => Promise.reject(new Error('this agent has no address')));
  }

  override connect(): Promise<A2aConnection> {
    return Promise.resolve(
      quietConnection({
        send: () => this.#answer(),
        follow: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
        task: () => Promise.resolve(this.task.toTask()),
        cancel: async (taskId, { reason }) => {
          this.cancelled.push(`${taskId}: ${reason}`);
          await this.answers;
          if (taskId !== this.task.id) throw new ProductError('TASK_ENDED', `${taskId} has ended`);
          return this.task.cancel().toTask();
        },
        list: () => Promise.resolve({ tasks: [], total: 0 }),
      }),
    );
  }

  async *#answer(): AsyncIterable<StreamResponse> {
    await this.takes;
    yield { payload: { $case: 'task', value: this.task.toTask() } };
  }
}

const client = (): ClientConnection => ({ isDisconnected: false });

describe('the tasks of a client that disconnects, with --on-disconnect cancel', () => {
  let agent: OneSession;
  let directory: string;
  const opened: LiveSessions[] = [];

  beforeEach(async () => {
    agent = new OneSession();
    directory = await temporaryDirectory();
  });
  afterEach(() => {
    for (const live of opened.splice(0)) live.close();
  });

  /**
   * Starts another bridge of the same user.
   * @param owner the process id of the bridge
   */
  async function bridge(owner?: string) {
    const database = await openDatabase(directory, owner);
    const outbox = new Outbox(database);
    const live = new LiveSessions(outbox, new DecisionClaims(database));
    opened.push(live);
    const log = createLogger({ name: 'test', level: 'silent' });
    const results = new WaitingResults(database);
    const delegations = new DelegationService({
      registry: new AgentRegistry(agent),
      outbox,
      results,
      live,
      log,
      directory: '/work',
      channel: 'mcp',
    });
    const tasks = new DelegatingClients({ outbox, live, delegations, log });
    const delegate = async (by: ClientConnection, going?: Session): Promise<Session> => {
      const begun =
        going === undefined ? delegations.start(agent, WORK) : delegations.continueSession(going, WORK);
      const { session, messageId, delivery } = await begun;
      tasks.delegated(by, session, messageId);
      await delivery;
      await delegations.settled();
      return session;
    };
    return { outbox, live, delegations, tasks, delegate };
  }

  test('the disconnect cancels the client’s tasks', async () => {
    const { tasks, delegate } = await bridge();
    const own = client();
    const session = await delegate(own);
    await tasks.handleDisconnect(own);
    expect(agent.cancelled).toEqual([`task-1: ${BY}`]);
    expect(session.view?.state).toBe('canceled');
  });

  test('the disconnect does not cancel another client’s task, even after this client’s message to that task', async () => {
    const { tasks, delegate } = await bridge();
    const [first, second] = [client(), client()];
    const session = await delegate(first);
    await tasks.handleDisconnect(client());
    await delegate(second, session);
    await tasks.handleDisconnect(first);
    expect(agent.cancelled).toEqual([]);
    await tasks.handleDisconnect(second);
    expect(agent.cancelled).toEqual([`task-1: ${BY}`]);
  });

  test('the disconnect does not cancel a task that another client has joined', async () => {
    const { tasks, delegate } = await bridge();
    const [first, second] = [client(), client()];
    const session = await delegate(first);
    tasks.joined(first, session);
    tasks.joined(second, session);
    await tasks.handleDisconnect(first);
    await tasks.handleDisconnect(second);
    expect(agent.cancelled).toEqual([]);
  });

  test('the disconnect does not cancel a task to which another bridge has sent a message', async () => {
    const here = await bridge();
    const there = await bridge(await endedProcessId());
    const own = client();
    const session = await here.delegate(own);
    const same = there.live.add(there.live.open(agent, 'session-1'));
    same.applyEvent(taskAsStreamResponse(agent.task.toTask()), await agent.connect());
    await there.delegate(client(), same);
    await here.tasks.handleDisconnect(own);
    expect(session.over).toBe(false);
    expect(agent.cancelled).toEqual([]);
  });

  test('the disconnect does not cancel an ended task', async () => {
    const { tasks, delegate } = await bridge();
    const own = client();
    const session = await delegate(own);
    agent.task.say('done').complete();
    session.applyEvent(taskAsStreamResponse(agent.task.toTask()), await agent.connect());
    await tasks.handleDisconnect(own);
    expect(agent.cancelled).toEqual([]);
  });

  test('the disconnect does not cancel the next task of its session if another program has started that task', async () => {
    const { tasks, delegate } = await bridge();
    const own = client();
    const session = await delegate(own);
    agent.task = new FakeTask('task-2', 'session-1', true).work();
    session.applyEvent(taskAsStreamResponse(agent.task.toTask()), await agent.connect());
    await tasks.handleDisconnect(own);
    expect(agent.cancelled.filter((each) => each.startsWith('task-2'))).toEqual([]);
    expect(session.view).toMatchObject({ taskId: 'task-2', state: 'working' });
  });

  test('the disconnect cancels the task of a message that is not delivered yet, also if the message is sent afterwards', async () => {
    const { tasks, delegate } = await bridge();
    const [early, late] = [client(), client()];
    const taken = new Deferred<void>();
    agent.takes = taken.promise;
    const onTheWay = delegate(early);
    await new Promise((resolve) => setImmediate(resolve));
    const left = tasks.handleDisconnect(early);
    taken.resolve();
    await Promise.all([onTheWay, left]);
    expect(agent.cancelled).toEqual([`task-1: ${BY}`]);

    agent.task = new FakeTask('task-2', 'session-2', true).work();
    await tasks.handleDisconnect(late);
    await delegate(late);
    expect(agent.cancelled).toEqual([`task-1: ${BY}`, `task-2: ${BY}`]);
  });

  test('B3 the cancels are in the outbox at once, so that the next bridge can send them', async () => {
    const here = await bridge(await endedProcessId());
    const own = client();
    await here.delegate(own);
    agent.answers = new Promise(() => undefined);
    void here.tasks.handleDisconnect(own);
    expect(here.outbox.entries()).toMatchObject([{ cancel: BY, state: { type: 'accepted' } }]);

    const next = await bridge();
    agent.answers = Promise.resolve();
    agent.cancelled.length = 0;
    await next.delegations.recover();
    while (next.outbox.entries()[0]?.cancel !== null) await new Promise((resolve) => setImmediate(resolve));
    expect(agent.cancelled).toEqual([`task-1: ${BY}`]);
  });

  test('a cancel that cannot be sent stays in the outbox until a later message withdraws it', async () => {
    const { tasks, delegate, outbox, delegations } = await bridge();
    const [own, other] = [client(), client()];
    const session = await delegate(own);
    agent.answers = Promise.reject(new ProductError('AGENT_UNREACHABLE', 'It is away.'));
    agent.answers.catch(() => undefined);
    await tasks.handleDisconnect(own);
    expect(outbox.entries()).toMatchObject([{ cancel: BY }]);
    agent.cancelled.length = 0;
    agent.answers = Promise.resolve();
    await delegate(other, session);
    await delegations.recover();
    while (outbox.entries().some(({ cancel }) => cancel !== null))
      await new Promise((resolve) => setImmediate(resolve));
    expect(agent.cancelled).toEqual([]);
    expect(session.over).toBe(false);
  });
});
