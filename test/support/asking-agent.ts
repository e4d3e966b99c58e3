/** An agent in memory, by default without extensions. Its task waits for an answer. The test decides when the agent reacts. */
import type { Message, StreamResponse, Task } from '@a2a-js/sdk';
import { Agent } from '../../bridge/agents/agent.ts';
import type { A2aConnection } from '../../bridge/agents/connection.ts';
import { taskAsStreamResponse } from '../../bridge/agents/task-as-stream-response.ts';
import type { Dialect } from '../../bridge/dialects/dialect.ts';
import { plainA2aDialect } from '../../bridge/dialects/plain-a2a.ts';
import { Session } from '../../bridge/sessions/session/session.ts';
import type { DecisionClaims } from '../../bridge/state/decision-claims.ts';
import { FakeTask } from './fake-agent-task.ts';
import { quietConnection } from './quiet-connection.ts';
import { signal } from './signal.ts';

export class AskingAgent extends Agent {
  readonly task = new FakeTask('task-1', 'session-1', false).work().ask();
  readonly received: Message[] = [];
  /** Happens when the agent has received a message. */
  readonly arrived = signal();
  /** The agent begins its response to a message after this signal. */
  readonly begins = signal();
  readonly connection: A2aConnection;
  /** Connects to the agent. A test replaces it to let something happen meanwhile. */
  reach: () => Promise<void> = () => Promise.resolve();
  /** Answers the request for the task. */
  fetch: () => Promise<Task> = () => Promise.resolve(this.task.toTask());
  /** Keeps a stream of the task open until the promise resolves. */
  follow: (end: AbortSignal) => Promise<void> = (end) =>
    new Promise((resolve) => end.addEventListener('abort', () => resolve()));
  /** Returns the response to a message. */
  respond: () => AsyncIterable<StreamResponse> | Iterable<StreamResponse> = () => [
    taskAsStreamResponse(this.task.work().toTask()),
  ];

  constructor(dialect: Dialect = plainA2aDialect) {
    super('asking', () => Promise.reject(new Error('nobody is asked where it is')));
    this.connection = quietConnection({
      dialect,
      deduplicates: false,
      staysOpen: false,
      send: (message) => this.#answer(message),
      follow: ({ signal: end }) => this.follow(end),
      task: () => this.fetch(),
      cancel: () => Promise.reject(new Error('nobody cancels')),
      list: () => Promise.resolve({ tasks: [], total: 0 }),
    });
  }

  override async connect(): Promise<A2aConnection> {
    await this.reach();
    return this.connection;
  }

  /**
   * Returns a session that has read the waiting task.
   * @param take claims a decision
   */
  session(take: DecisionClaims['take'] = () => Promise.resolve(undefined)): Session {
    const claims = { take, release: () => undefined };
    const session = new Session(this, 'session-1', { claims });
    session.applyEvent(taskAsStreamResponse(this.task.toTask()), this.connection);
    return session;
  }

  async *#answer(message: Message): AsyncIterable<StreamResponse> {
    this.received.push(message);
    this.arrived.happen();
    await this.begins.happened;
    yield* this.respond();
  }
}
