/**
 * One task that the bridge has delegated. The bridge stores the session and follows the agent. This client calls the
 * bridge's wait tool until the task ends. If the response to a wait is lost, the client calls the wait tool again.
 *
 * - The tool call that delegates the task does not wait for the task, so that a cancel soon has the session id. The
 *   client never repeats this call, because a second call would start a second task.
 * - MCP has no event for a decision that another client sends. So this client polls while the task waits.
 */
import * as z from 'zod/mini';
import { Deferred } from '../../runtime/deferred.ts';
import { pause } from '../../runtime/pause.ts';
import type { OnProgress } from '../core/progress.ts';
import type { TaskTransport } from '../core/task-transport.ts';
import { hasEnded } from '../core/task-report.ts';
import type { TaskReport } from '../core/task-report.ts';
import type { Decision, GrantsToRevoke, TaskRequest, ToolRequest } from '../core/task-request.ts';
import type { BridgeToolCaller } from './bridge-tool-caller.ts';
import type { RequestOptions } from './mcp-connection.ts';
import {
  toBridgeDecision,
  taskReportOf,
  findRunningTools,
  toolProgressFromNotification,
  structuredContentOf,
} from './session-report.ts';
import type { McpCallResult } from './session-report.ts';

const RUN_TOOL = 'run_agent_tool';
const REVOKE = 'revoke_trust';
const DELEGATE = 'delegate_task_to_assistant';
const WAIT = 'wait_for_task';
const DECIDE = 'approve_or_deny_pending_action';
const CANCEL = 'cancel_running_task';

/** The maximum duration of one call of the wait tool, in seconds. Progress messages arrive during this time. */
const WAIT_SECONDS = 100;

export interface BridgeTaskRequest extends TaskRequest {
  /** The paths of files on the bridge's machine. A relative path starts at `workspace`. */
  files?: readonly string[] | undefined;
  /** The name of the agent. The default is the bridge's first agent. */
  agent?: string | undefined;
}

export interface BridgeToolRequest extends ToolRequest {
  /** The name of the agent. The default is the bridge's first agent. */
  agent?: string | undefined;
}

/** What a transport follows: a new task, a new task with one tool call, or the task of an existing session. */
export type BridgeTaskBeginning =
  | { request: BridgeTaskRequest }
  | { tool: BridgeToolRequest }
  | { sessionId: string };

export class BridgeTaskTransport implements TaskTransport {
  readonly #tools: BridgeToolCaller;
  readonly #statusIntervalMs: number;
  readonly #beginning: BridgeTaskBeginning;
  /** Resolves when the bridge has sent the session id. */
  readonly #named = new Deferred<string>();
  #report: TaskReport | undefined;
  #wake: () => void = () => undefined;

  constructor(tools: BridgeToolCaller, statusIntervalMs: number, beginning: BridgeTaskBeginning) {
    this.#tools = tools;
    this.#statusIntervalMs = statusIntervalMs;
    this.#beginning = beginning;
  }

  get report(): TaskReport | undefined {
    return this.#report;
  }

  async follow(tell: OnProgress, reading: AbortSignal): Promise<TaskReport> {
    try {
      let report = this.#storeReport(await this.#begin(tell, reading));
      tell({ type: 'state', report });
      while (!hasEnded(report)) {
        if (report.state === 'waiting') await this.#waitForNextPoll(reading);
        const before = report;
        report = this.#storeReport(await this.#wait(report.sessionId, tell, reading));
        if (isNews(before, report)) tell({ type: 'state', report });
      }
      return report;
    } catch (error) {
      this.#named.reject(error);
      throw error;
    }
  }

  async cancel(reason: string): Promise<void> {
    taskReportOf(await this.#tools.call(CANCEL, { sessionId: await this.#named.promise, reason }));
    this.#wake();
  }

  cancelLeaving(reason: string): void {
    const sessionId = this.#report?.sessionId;
    if (sessionId !== undefined) this.#tools.callLeaving(CANCEL, { sessionId, reason });
    // Without a session id, only a normal cancel is possible. Such a cancel waits for the id, and is lost if the page
    // unloads first.
    else this.cancel(reason).catch(() => undefined);
  }

  async decide(decisions: readonly Decision[]): Promise<void> {
    const args = {
      sessionId: await this.#named.promise,
      decisions: decisions.map(toBridgeDecision),
      waitSeconds: 0,
    };
    taskReportOf(await this.#tools.call(DECIDE, args));
    this.#wake();
  }

  async revoke(grants: GrantsToRevoke): Promise<void> {
    const which = grants === 'all' ? { all: true } : { grantIds: grants };
    const result = await this.#tools.call(REVOKE, { sessionId: await this.#named.promise, ...which });
    structuredContentOf(z.unknown(), result);
    this.#wake();
  }

  async say(text: string): Promise<void> {
    taskReportOf(
      await this.#tools.call(DELEGATE, { sessionId: await this.#named.promise, task: text, waitSeconds: 0 }),
    );
    this.#wake();
  }

  #begin(tell: OnProgress, reading: AbortSignal): Promise<McpCallResult> {
    if ('sessionId' in this.#beginning)
      return this.#tools.look(
        WAIT,
        { sessionId: this.#beginning.sessionId, waitSeconds: 0 },
        { signal: reading },
      );
    const onProgress = this.#progressCallback(tell);
    if ('tool' in this.#beginning)
      return this.#tools.call(RUN_TOOL, { ...this.#beginning.tool, waitSeconds: 0 }, { onProgress });
    const { text, ...settings } = this.#beginning.request;
    return this.#tools.call(DELEGATE, { ...settings, task: text, waitSeconds: 0 }, { onProgress });
  }

  async #wait(sessionId: string, tell: OnProgress, reading: AbortSignal): Promise<McpCallResult> {
    const progressed = this.#progressCallback(tell);
    let lost = false;
    const answered = (): void => {
      if (lost) tell({ type: 'reconnected' });
      lost = false;
    };
    const result = await this.#tools.look(
      WAIT,
      { sessionId, waitSeconds: WAIT_SECONDS },
      {
        signal: reading,
        onProgress: (message, params) => {
          answered();
          progressed(message, params);
        },
        onLost: (attempt, error) => {
          lost = true;
          tell({ type: 'reconnecting', attempt, error });
        },
      },
    );
    answered();
    return result;
  }

  /**
   * Returns the callback for MCP progress messages. The callback also reads the list of running tools from each
   * message, because the wait tool does not return when a tool starts or ends.
   */
  #progressCallback(tell: OnProgress): NonNullable<RequestOptions['onProgress']> {
    return (message, params) => {
      const before = this.#report;
      const tools = findRunningTools(params);
      if (before !== undefined && !hasEnded(before) && tools !== undefined) {
        this.#report = { ...before, tools };
        if (isNews(before, this.#report)) tell({ type: 'state', report: this.#report });
      }
      const steps = toolProgressFromNotification(params);
      tell({ type: 'note', message, ...(steps && { steps }) });
    };
  }

  /**
   * Waits for the time of the next poll. Ends earlier if this client sends something about the task, or if `reading`
   * aborts.
   */
  async #waitForNextPoll(reading: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    reading.addEventListener('abort', this.#wake);
    await pause(reading.aborted ? 0 : this.#statusIntervalMs, woken.signal);
    reading.removeEventListener('abort', this.#wake);
  }

  #storeReport(result: McpCallResult): TaskReport {
    this.#report = taskReportOf(result);
    this.#named.resolve(this.#report.sessionId);
    return this.#report;
  }
}

/**
 * Returns true if a person would see a difference between the two reports: in the state, its message, the answer, the
 * pending actions, or the running tools.
 */
function isNews(before: TaskReport, now: TaskReport): boolean {
  return visibleStateKey(before) !== visibleStateKey(now);
}

function visibleStateKey({ state, message, output, pending, question, tools }: TaskReport): string {
  const asked = pending.map(({ callId, shown }) => [callId, shown]);
  return JSON.stringify([state, message, output, asked, question, tools.map(({ toolId }) => toolId)]);
}
