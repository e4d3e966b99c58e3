import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Task } from '@a2a-js/sdk';
import { Agent } from '../../../../bridge/agents/agent.ts';
import { AgentRegistry } from '../../../../bridge/agents/agent-registry.ts';
import type { A2aConnection } from '../../../../bridge/agents/connection.ts';
import { LiveSessions } from '../../../../bridge/sessions/live-sessions.ts';
import { resolveSession } from '../../../../bridge/cli/decisions/resolve-id.ts';
import { encodeMcpTaskId } from '../../../../bridge/sessions/mcp-task-id.ts';
import { Sessions } from '../../../../bridge/sessions/sessions.ts';
import { DecisionClaims } from '../../../../bridge/state/decision-claims.ts';
import { Outbox } from '../../../../bridge/state/outbox.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';
import { temporaryDatabase } from '../../../support/bridge-database.ts';
import { outboxEntry } from '../../../support/outbox-entry.ts';
import { FakeTask } from '../../../support/fake-agent-task.ts';
import { quietConnection } from '../../../support/quiet-connection.ts';

/** An agent in memory that lists its tasks. */
class ListingAgent extends Agent {
  readonly tasks: Task[] = [];
  /** The ids of tasks that are listed, and that the agent does not have any more. */
  readonly vanished = new Set<string>();

  constructor(name = 'listing') {
    super(name, () => Promise.reject(new Error('nobody is asked where it is')));
  }

  override connect(): Promise<A2aConnection> {
    return Promise.resolve(
      quietConnection({
        send: () => {
          throw new Error('nobody sends');
        },
        follow: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
        task: (id) => {
          const task = this.tasks.find((each) => each.id === id && !this.vanished.has(id));
          return task === undefined ? Promise.reject(new Error(`no task ${id}`)) : Promise.resolve(task);
        },
        cancel: () => Promise.reject(new Error('nobody cancels')),
        list: ({ sessionId }) => {
          const tasks = this.tasks.filter(({ contextId }) => (sessionId ?? contextId) === contextId);
          return Promise.resolve({ tasks, total: tasks.length });
        },
      }),
    );
  }
}

describe('finding a session', () => {
  let agent: ListingAgent;
  let live: LiveSessions;
  let outbox: Outbox;
  let sessions: Sessions;

  const createSessions = (first: Agent, ...others: readonly Agent[]): Sessions =>
    new Sessions({
      registry: new AgentRegistry(first, ...others),
      outbox,
      live,
      delegations: { takeOver: () => Promise.resolve(undefined) },
    });

  beforeEach(async () => {
    agent = new ListingAgent();
    const database = await temporaryDatabase();
    outbox = new Outbox(database);
    live = new LiveSessions(outbox, new DecisionClaims(database));
    sessions = createSessions(agent);
  });
  afterEach(() => live.close());

  test('a session is found by an id of its agent that looks like the id of an MCP task', async () => {
    agent.tasks.push(new FakeTask('task-1', 'tenant::session', true).work().toTask());
    const found = await sessions.find('tenant::session');
    expect(found.id).toBe('tenant::session');
    expect(await sessions.find('tenant::session')).toBe(found);
    const handle = encodeMcpTaskId({ sessionId: 'tenant::session', taskId: 'task-1', agent: 'listing' });
    expect(await sessions.find(handle)).toBe(found);
    agent.tasks.push(new FakeTask('task-2', 'tenant::group::session', true).work().toTask());
    expect((await sessions.find('tenant::group::session')).id).toBe('tenant::group::session');
    await expect(sessions.find('tenant::group::other')).rejects.toMatchObject({ reason: 'UNKNOWN_AGENT' });
  });

  test('a session is found by the shortened id that the command line shows, if only one session has it', async () => {
    for (const [at, id] of ['session-683094b4-0943', 'session-744a17d1-1', 'session-744a17d1-2'].entries())
      agent.tasks.push(new FakeTask(`task-${String(at)}`, id, true).work().toTask());
    expect((await sessions.find('session-683094b4')).id).toBe('session-683094b4-0943');
    expect((await sessions.find('683094b4')).id).toBe('session-683094b4-0943');
    for (const given of ['session-744a17d1', 'session-683094', 'session-'])
      await expect(sessions.find(given)).rejects.toMatchObject({ reason: 'UNKNOWN_SESSION' });
  });

  test('the first digits of a UUID find a session in memory, without a request to an agent', async () => {
    const id = 'session-b615d150-191a-497b-83b6-3172b179d62f';
    agent.tasks.push(new FakeTask('task-1', id, true).work().toTask());
    const found = await sessions.find(id);
    const connections = jest.spyOn(agent, 'connect');
    expect(await sessions.find('session-b615d150')).toBe(found);
    expect(connections).not.toHaveBeenCalled();
  });

  test('the first digits of a message id find its session, after another bridge has delivered the message', async () => {
    const messageId = 'b615d150-191a-497b-83b6-3172b179d62f';
    agent.tasks.push(new FakeTask('task-1', 'session-1', true).work().toTask());
    outbox.put(
      outboxEntry(messageId, {
        agent: agent.name,
        state: { type: 'accepted', taskId: 'task-1', sessionId: 'session-1' },
      }),
    );
    expect((await sessions.find('b615d150')).id).toBe('session-1');
  });

  test('a session id that two agents use needs the name of one, or an MCP task id', async () => {
    const other = new ListingAgent('other');
    const both = createSessions(agent, other);
    for (const each of [agent, other]) {
      each.tasks.push(new FakeTask(`task-${each.name}`, 'session-1', true).work().toTask());
      outbox.put(
        outboxEntry(each.name, {
          agent: each.name,
          state: { type: 'accepted', taskId: `task-${each.name}`, sessionId: 'session-1' },
        }),
      );
    }
    await expect(both.find('session-1')).rejects.toMatchObject({
      reason: 'UNKNOWN_SESSION',
      message: expect.stringContaining('Several agents have a session "session-1": "listing", "other".'),
    });
    for (const each of [agent, other]) {
      const found = await both.find('session-1', { agent: each.name });
      expect(found.agent).toBe(each);
      const handle = encodeMcpTaskId({ sessionId: 'session-1', taskId: '', agent: each.name });
      expect(await both.find(handle)).toBe(found);
    }
    await expect(resolveSession(both, 'session-1')).rejects.toMatchObject({
      message: expect.stringMatching(
        /Several sessions[^]*session-1::task-listing::listing[^]*session-1::task-other::other/,
      ),
    });
  });

  test('a session id that only the agents know is refused if two of them have it', async () => {
    const other = new ListingAgent('other');
    for (const each of [agent, other])
      each.tasks.push(new FakeTask(`task-${each.name}`, 'session-1', true).work().toTask());
    const both = createSessions(agent, other);
    await expect(both.find('session-1')).rejects.toMatchObject({
      reason: 'UNKNOWN_SESSION',
      message: expect.stringContaining('Several agents have a session "session-1": "listing", "other".'),
    });
    expect(live.all).toEqual([]);
    expect((await both.find('session-1', { agent: other.name })).agent).toBe(other);
  });

  test('an agent that hangs does not delay the search for a random UUID that another agent has', async () => {
    // The time limit of the search never ends.
    jest.useFakeTimers();
    try {
      const id = 'b615d150-191a-497b-83b6-3172b179d62f';
      agent.tasks.push(new FakeTask('task-1', id, true).work().toTask());
      const hanging = new Agent('hanging', () => new Promise(() => undefined));
      expect((await createSessions(hanging, agent).find(id)).agent).toBe(agent);
    } finally {
      jest.useRealTimers();
    }
  });

  test('a search with several steps waits once for an agent that hangs, and asks it again after its answer', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    try {
      let fail: (() => void) | undefined;
      let asked = 0;
      const hanging = new Agent('hanging', () => {
        asked += 1;
        return new Promise((_, reject) => (fail = () => reject(new Error('it is away'))));
      });
      const both = createSessions(agent, hanging);
      const found = expect(resolveSession(both, 'other')).rejects.toMatchObject({
        message: expect.stringContaining('No answer from agent "hanging"'),
      });
      await jest.advanceTimersByTimeAsync(5_000);
      await found;
      expect(asked).toBe(1);
      fail?.();
      await new Promise(setImmediate);
      void both.list();
      expect(asked).toBe(2);
    } finally {
      jest.useRealTimers();
    }
  });

  test('a session in memory is found after its agent got another name, and while the outbox cannot be read', async () => {
    const renamed = createSessions(agent, new ListingAgent('other'));
    const state = { type: 'accepted', taskId: 'task-1', sessionId: 'session-1' } as const;
    outbox.put(outboxEntry('message-1', { agent: 'old name', state }));
    agent.tasks.push(new FakeTask('task-1', 'session-1', true).work().toTask());
    const found = await renamed.find('session-1', { agent: agent.name });
    expect(await renamed.find('session-1')).toBe(found);
    jest.spyOn(outbox, 'findByHandle').mockImplementation(() => {
      throw new ProductError('STORAGE', 'The database is locked.');
    });
    expect(await renamed.find('session-1')).toBe(found);
    await expect(renamed.find('session-2')).rejects.toMatchObject({ reason: 'STORAGE' });
  });

  test('a short prefix selects no session while an agent is unreachable, because that agent may have another', async () => {
    const away = new Agent('away', () => Promise.reject(new Error('it is away')));
    agent.tasks.push(new FakeTask('task-1', 'session-683094b4-0943', true).work().toTask());
    const both = createSessions(agent, away);
    await expect(resolveSession(both, '6830')).rejects.toMatchObject({
      reason: 'UNKNOWN_SESSION',
      message: expect.stringMatching(
        /^The id of session session-683094b4-0943 begins with "6830"\. An agent that does not answer may have another such session\..*"away"/,
      ),
    });
    await expect(resolveSession(both, 'other')).rejects.toMatchObject({
      message: expect.stringMatching(/lists all of them\.\nNo answer from agent "away"/),
    });
    expect((await resolveSession(both, '683094b4')).id).toBe('session-683094b4-0943');
    expect((await resolveSession(both, 'task-1')).id).toBe('session-683094b4-0943');
    expect((await resolveSession(createSessions(agent), '6830')).id).toBe('session-683094b4-0943');
  });

  test('a prefix finds the sessions of two agents that use the same session id', async () => {
    const other = new ListingAgent('other');
    for (const each of [agent, other])
      each.tasks.push(new FakeTask(`task-${each.name}`, 'session-1', true).work().toTask());
    const { sessions: found } = await createSessions(agent, other).withPrefix('session-');
    expect(new Set(found.map(({ taskId }) => taskId))).toEqual(new Set(['task-listing', 'task-other']));
  });

  test('a session whose newest task has vanished meanwhile keeps its last known state', async () => {
    agent.tasks.push(new FakeTask('task-1', 'session-1', true).work().complete().toTask());
    const found = await sessions.find('session-1');
    agent.tasks.unshift(new FakeTask('task-2', 'session-1', true).work().toTask());
    agent.vanished.add('task-2');
    expect(await sessions.find('session-1')).toBe(found);
    expect(found.view).toMatchObject({ taskId: 'task-1', state: 'completed' });
  });

  test('the session of a tool execution is the one of the named agent, if two agents use the same id', async () => {
    const other = new ListingAgent('other');
    for (const each of [agent, other]) {
      const session = live.add(live.open(each, `session of ${each.name}`));
      const started = {
        type: 'tool.started',
        callId: 'c',
        tool: 'run',
        title: 'Run',
        toolId: 'call_1',
      } as const;
      const running = new FakeTask('task-1', `session of ${each.name}`, true).work().activity(started);
      const connection = await each.connect();
      for (const { event } of running.events) session.applyEvent(event, connection);
      // Both tasks have the id task-1. So a form must not name the wrong agent.
      expect(live.agentNameOfTask('task-1')).toBe(each === agent ? 'listing' : undefined);
    }
    expect(live.withTool('call_1', 'listing')?.agent).toBe(agent);
    expect(live.withTool('call_1', 'other')?.agent).toBe(other);
    expect(live.withTool('call_1', 'third')).toBeUndefined();
  });
});
