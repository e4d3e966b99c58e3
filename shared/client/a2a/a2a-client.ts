/** A client of an A2A agent over HTTP: A2A 1.0 with this package's two extensions, and the agent's tool executions. */
import { Executions } from '../executions.ts';
import type { Execution, ExecutionOptions } from '../execution.ts';
import { newId } from '../new-id.ts';
import { thisPage } from '../page-watch.ts';
import { PATIENCE } from '../patience.ts';
import type { Patience } from '../patience.ts';
import { Service } from '../service.ts';
import type { ClientOptions } from '../client-options.ts';
import type { AbortAnswer } from '../task-request.ts';
import { A2aLine } from './a2a-line.ts';
import type { Beginning } from './a2a-line.ts';
import { AgentApi } from './agent-api.ts';
import type { ToolExecution } from './agent-api.ts';
import { requestMessage } from './message.ts';
import type { A2aTaskRequest } from './message.ts';

export class A2aClient {
  readonly #api: AgentApi;
  readonly #patience: Patience;
  readonly #executions: Executions;

  constructor({ patience, page = thisPage(), ...service }: ClientOptions) {
    this.#patience = { ...PATIENCE, ...patience };
    this.#api = new AgentApi(new Service(service), this.#patience);
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
    return this.#executions.begin(new A2aLine(this.#api, this.#patience, beginning), options);
  }
}
