import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Task } from '@a2a-js/sdk';
import { Agent } from '../../../../bridge/agents/agent.ts';
import { AgentRegistry } from '../../../../bridge/agents/agent-registry.ts';
import type { A2aConnection } from '../../../../bridge/agents/connection.ts';
import { LiveSessions } from '../../../../bridge/sessions/live-sessions.ts';
import { encodeTaskHandle } from '../../../../bridge/sessions/mcp-task-id.ts';
import { Sessions } from '../../../../bridge/sessions/sessions.ts';
import { StoredDecisionClaims } from '../../../../bridge/state/decision-claims.ts';
import { Outbox } from '../../../../bridge/state/outbox.ts';
import { temporaryDatabase } from '../../../support/bridge-database.ts';
import { FakeTask } from '../../../support/fake-agent-task.ts';
import { quietConnection } from '../../../support/quiet-connection.ts';

/** An agent in memory that lists its tasks. */
class ListingAgent extends Agent {
  readonly tasks: Task[] = [];

  constructor() {
    super('listing', () => Promise.reject(new Error('nobody is asked where it is')));
  }

  override connect(): Promise<A2aConnection> {
    return Promise.resolve(
      quietConnection({
        send: () => {
          throw new Error('nobody sends');
        },
        follow: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
        task: (id) => {
          const task = this.tasks.find((each) => each.id === id);
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
  let sessions: Sessions;

  beforeEach(async () => {
    agent = new ListingAgent();
    const database = await temporaryDatabase();
    const outbox = new Outbox(database);
    live = new LiveSessions(outbox, new StoredDecisionClaims(database));
    sessions = new Sessions({
      registry: new AgentRegistry(agent),
      outbox,
      live,
      delegations: { takeUp: () => Promise.resolve(undefined) },
    });
  });
  afterEach(() => live.close());

  test('a session is found by an id of its agent that looks like the id of an MCP task', async () => {
    agent.tasks.push(new FakeTask('task-1', 'tenant::session', true).work().toTask());
    const found = await sessions.find('tenant::session');
    expect(found.id).toBe('tenant::session');
    expect(await sessions.find('tenant::session')).toBe(found);
    const handle = encodeTaskHandle({ sessionId: 'tenant::session', taskId: 'task-1' });
    expect(await sessions.find(handle)).toBe(found);
  });
});
