/** A client of an A2A agent over HTTP: A2A 1.0 with this package's two extensions, and the agent's tool executions. */
import { Executions } from '../executions.ts';
import type { Execution, ExecutionOptions } from '../execution.ts';
import { newId } from '../new-id.ts';
import { thisPage } from '../page-watch.ts';
import { PATIENCE } from '../patience.ts';
import { Service } from '../service.ts';
import type { ClientOptions } from '../client-options.ts';
import type { AbortAnswer } from '../task-request.ts';
import { A2aLine } from './a2a-line.ts';
import type { A2aWays, Beginning } from './a2a-line.ts';
import { AgentApi } from './agent-api.ts';
import type { ToolExecution } from './agent-api.ts';
import type { ListedTask } from './listed-task.ts';
import { CHANNEL, requestMessage } from './message.ts';
import type { A2aTaskRequest } from './message.ts';

export interface A2aClientOptions extends ClientOptions {
  /** How the person is asked who decides, for the record, e.g. `page`; `client-library` when left out. */
  channel?: string | undefined;
}

export class A2aClient {
  readonly #api: AgentApi;
  readonly #ways: A2aWays;
  readonly #executions: Executions;

  constructor({ patience, page = thisPage(), channel = CHANNEL, ...service }: A2aClientOptions) {
    this.#ways = { patience: { ...PATIENCE, ...patience }, channel };
    this.#api = new AgentApi(new Service(service), this.#ways.patience);
    this.#executions = new Executions(page);
  }

  /** The executions of this client that have not ended. */
  get active(): readonly Execution[] {
    return this.#executions.active;
  }

  /** Starts a task. Nothing is thrown here: see the execution's result. */
  start(request: A2aTaskRequest, options: ExecutionOptions = {}): Execution {
    return this.#begin({ message: requestMessage(request, newId()) }, options);
  }

  /**
   * Comes back to a task, be it another page's or another day's. Told first is where it stands; with `after`, the cursor
   * of an earlier report, then everything that has happened since.
   */
  attach(task: { taskId: string; after?: number | undefined }, options: ExecutionOptions = {}): Execution {
    return this.#begin(task, options);
  }

  /** The newest tasks of this token, whoever started them; at most so many, 50 when left out. @throws ClientError */
  tasks(count = 50): Promise<readonly ListedTask[]> {
    return this.#api.tasks(count);
  }

  /** The tool executions that run, of all that this token may see. @throws ClientError */
  tools(): Promise<readonly ToolExecution[]> {
    return this.#api.tools();
  }

  /** Stops one tool execution; its task goes on, and its model is told. @throws ClientError */
  abortTool(toolId: string, reason = 'aborted by the client'): Promise<AbortAnswer> {
    return this.#api.abortTool(toolId, reason);
  }

  /** Stops the tool executions of this client's own executions. @throws ClientError */
  abortAllTools(reason?: string): Promise<readonly AbortAnswer[]> {
    const running = this.active.flatMap(({ report }) => report?.tools ?? []);
    return Promise.all(running.map(({ toolId }) => this.abortTool(toolId, reason)));
  }

  /** Ends the tasks of this client's own executions. @throws AggregateError when some could not be; the others were */
  cancelAll(reason?: string): Promise<void> {
    return this.#executions.cancelAll(reason);
  }

  #begin(beginning: Beginning, options: ExecutionOptions): Execution {
    return this.#executions.begin(new A2aLine(this.#api, this.#ways, beginning), options);
  }
}
