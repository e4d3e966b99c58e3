/**
 * Runs approved tool calls and stops them.
 *
 * - E2: `tool.started` is durable before the tool has side effects. Only a ready call can start.
 * - A file tool may read before its start is recorded. Its first change records the start (tool-start-recorder.ts). Any other
 *   tool runs only after its start is recorded.
 * - A1: each stop of a tool execution has a named reason.
 * - A2: the signal of a stopped tool fires at once. A tool that does not end within its grace period is recorded as
 *   unconfirmed. Its later output is dropped.
 * - A3: the journal decides each race.
 * - D2: if the content of a call has changed since the person saw it, nothing runs. The server asks the person again.
 */
import { maySeeTasksOf, type Requester } from '../../access/requester.ts';
import type { AbortScope } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { createCheckpointingWorkspace } from '../../checkpoints/checkpointing-workspace.ts';
import type { FileBytes, Journal } from '../../journal/journal.ts';
import type { Policy } from '../../policy/create-policy.ts';
import type { Todo } from '../../../shared/protocol/tool-approval.ts';
import type { TaskEvent, ToolOutcome } from '../../task/events.ts';
import { foldNextEvents } from '../../task/fold.ts';
import type { AbortRequest } from '../../task/request-tool-abort.ts';
import { withTaskState, parkOrContinue, questionWithdrawn } from '../../task/pending.ts';
import {
  isRepeatableCall,
  isTerminal,
  waitingQuestionCalls,
  type Call,
  type Snapshot,
  type TaskWithEarlierTasks,
} from '../../task/snapshot.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Toolbox } from '../../tools/toolbox.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import { PausableTimeout } from '../abort-scopes/pausable-timeout.ts';
import type { IdGenerator } from '../task-journal/id-generator.ts';
import type { AbortCause } from '../abort-scopes/abort-cause.ts';
import { appendOutcome } from './append-outcome.ts';
import { abortRequestOutcome, type AbortRequestOutcome } from './abort-request-outcome.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';
import type { ToolExecutionView } from './tool-execution-view.ts';
import type { TimeLimits } from '../abort-scopes/time-limits.ts';
import { runToolToOutcome } from './run-tool-to-outcome.ts';
import { mayBecomeOutdated, outdatedEvent } from '../../tools/shown-content.ts';
import { recheckPolicyAndRun } from './run-tool-under-policy.ts';
import { separateFileContents } from './separate-file-contents.ts';
import type { DeferredCommandAppend } from '../task-journal/deferred-command-append.ts';
import { ToolStartRecorder, type ToolExecutionReference } from './tool-start-recorder.ts';
import { ToolOutput } from './tool-output.ts';
import { ToolQuestions } from './tool-questions.ts';

export interface RunningToolExecution {
  /** The log of the task's execution. */
  log: TaskJournal;
  toolId: string;
  taskId: string;
  sessionId: string;
  principal: string;
  callId: string;
  tool: string;
  title: string;
  startedAt: number;
  output: ToolOutput;
  questions: ToolQuestions;
  scope: AbortScope<AbortCause>;
  /** Resolves with the recorded outcome, or with null if the journal has no outcome. */
  settled: Promise<ToolOutcome | null>;
  unconfirmed?: string;
}

interface RunContext {
  /** The log of the execution. Its changes are refused once the execution's claim is lost. */
  log: TaskJournal;
  workspace: Workspace;
  earlier: readonly Snapshot[];
  scope: AbortScope<AbortCause>;
  /** The time limits of the turn and the task. They pause while the tool waits for a person. */
  timeouts: readonly Pick<PausableTimeout, 'hold'>[];
  /**
   * The decision that approves the tool call. Present if the journal does not contain the decision yet. One append then
   * contains the decision and the start.
   */
  command?: DeferredCommandAppend;
}

interface ExecutionResources {
  scope: AbortScope<AbortCause>;
  reference: ToolExecutionReference;
  start: ToolStartRecorder;
  output: ToolOutput;
  questions: ToolQuestions;
  timeout: PausableTimeout | undefined;
}

/**
 * `not-run`: another writer changed the task first, or the server shut down before the tool's start. `asked-again`: the
 * shown content has changed, so the tool call waits for a new decision (D2).
 */
type RunEnd = 'ran' | 'not-run' | 'asked-again';

interface ExecutionResult {
  /** The recorded outcome. Null if the task ended first, or if the journal has no outcome. */
  outcome: ToolOutcome | null;
  end: RunEnd;
}

const NOT_RUN: ExecutionResult = { outcome: null, end: 'not-run' };

interface SchedulerOptions {
  journal: Pick<Journal, 'watch'>;
  clock: Clock;
  ids: IdGenerator;
  toolbox: Pick<Toolbox, 'get' | 'absence'>;
  /** Returns the policy that applies now. */
  policy: () => Policy;
  /** The time limit for an aborted tool to end. A tool may have another limit. */
  graceMs: number;
  limits: Pick<TimeLimits, 'toolMs'>;
  onFailure: (taskId: string, error: unknown) => void;
}

export class ToolScheduler {
  readonly #options: SchedulerOptions;
  readonly #running = new Map<string, RunningToolExecution>();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  get running(): readonly RunningToolExecution[] {
    return [...this.#running.values()];
  }

  /** Returns the principal of the task of a tool execution. Undefined if this server does not run it. */
  ownerOf(toolId: string): string | undefined {
    return this.#running.get(toolId)?.principal;
  }

  /** Returns the tool executions that the requester may see. */
  of(requester: Requester): ToolExecutionView[] {
    const now = this.#options.clock.now();
    return this.running
      .filter((execution) => maySeeTasksOf(requester, execution.principal))
      .map(({ toolId, tool, title, taskId, sessionId, callId, startedAt, output }) => ({
        toolId,
        tool,
        title,
        taskId,
        sessionId,
        callId,
        startedAt,
        ageMs: now - startedAt,
        progress: output.lastLine,
      }));
  }

  /** Runs one ready tool call in a child of the turn's scope. Resolves when the journal has the outcome. */
  async run(snapshot: Snapshot, call: Call, at: RunContext): Promise<RunEnd> {
    const { journal, ids, clock } = this.#options;
    const { log } = at;
    const { taskId } = snapshot;
    const tool = this.#options.toolbox.get(call.tool);
    if (tool && (await this.#askAgainIfOutdated(snapshot, { call, tool }, at))) return 'asked-again';
    // True if the start of the tool is recorded with its first change. Directly before that change, the tool compares
    // the basis (a hash of the previewed content) again.
    const late = tool?.startsWithFirstChange === true;
    const toolId = ids.toolExecution(call.tool);
    const scope = at.scope.child();
    const reference = { callId: call.callId, tool: call.tool, title: call.title, toolId };
    const { inputHash } = call;
    const start = new ToolStartRecorder(log, taskId, { reference, inputHash, command: at.command });
    if (!late && !(await start.record())) {
      scope.close();
      return 'not-run';
    }
    const output = new ToolOutput(log, taskId, reference);
    const timeout = tool && this.#createTimeout(tool, call, scope);
    const timeouts = [...at.timeouts, ...(timeout ? [timeout] : [])];
    const questions = new ToolQuestions({ log, journal, taskId, call, toolId, scope, timeouts });
    const executed = this.#execute(
      snapshot,
      { call, tool },
      {
        at,
        workspace: createCheckpointingWorkspace(at.workspace, (files, contents) =>
          start.require(files, contents),
        ),
        place: { task: snapshot, earlier: at.earlier, workspace: at.workspace.root },
        scope,
        reference,
        start,
        output,
        questions,
        timeout,
      },
    );
    const execution: RunningToolExecution = {
      ...reference,
      log,
      taskId,
      sessionId: snapshot.sessionId,
      principal: snapshot.principal,
      startedAt: clock.now(),
      output,
      questions,
      scope,
      settled: executed.then(({ outcome }) => outcome),
    };
    // `run` throws the same error below. Without an `abort`, no code awaits this promise, so the rejection is ignored
    // here.
    execution.settled.catch(() => undefined);
    this.#running.set(toolId, execution);
    try {
      return (await executed).end;
    } finally {
      this.#running.delete(toolId);
      scope.close();
    }
  }

  /** Stops one tool execution. Returns undefined if this server does not run it. */
  async abort({
    toolId,
    reason,
  }: Pick<AbortRequest, 'toolId' | 'reason'>): Promise<AbortRequestOutcome | undefined> {
    const execution = this.#running.get(toolId);
    if (execution === undefined) return undefined;
    const first = execution.scope.abort(onRequest(reason));
    const outcome = await execution.settled;
    return abortRequestOutcome(outcome, { first, remark: execution.unconfirmed });
  }

  /** Stops the tool executions whose abort was requested through another server. */
  async abortRequested(): Promise<void> {
    for (const { log, taskId, callId, toolId, scope } of this.running) {
      const state = (await log.load(taskId))?.calls[callId]?.state;
      if (state?.type === 'running' && state.toolId === toolId && state.abort !== undefined)
        scope.abort(onRequest(state.abort));
    }
  }

  /** Stops the tools that wait for a person. A shutdown cannot wait for a person's answer. */
  stopWaiting(stop: AbortCause): void {
    for (const { questions, scope } of this.#running.values()) if (questions.waits) scope.abort(stop);
  }

  /** If the approved content has changed, asks the person again and returns true. */
  async #askAgainIfOutdated(
    { taskId, principal }: Snapshot,
    { call, tool }: { call: Call; tool: Tool },
    { log, workspace, scope, command }: RunContext,
  ): Promise<boolean> {
    if (call.decided === null || !mayBecomeOutdated(call)) return false;
    const shown = await tool
      .show(call.input, { principal, workspace, signal: scope.signal })
      .catch(() => undefined);
    // If the new preview fails, the person is not asked again. The call then fails when it runs.
    const event = shown && outdatedEvent(call, shown);
    if (event === undefined) return false;
    await command?.settle();
    await log.change(taskId, (s) => {
      if (s.calls[call.callId]?.state.type !== 'ready' || isTerminal(s)) return { type: 'keep' };
      return { type: 'append', events: [event, parkOrContinue(foldNextEvents(s, [event]))] };
    });
    return true;
  }

  #createTimeout(tool: Tool, call: Call, scope: AbortScope<AbortCause>): PausableTimeout {
    const { clock, limits } = this.#options;
    const ms = shorterLimit(tool.timeoutMs(call.input), limits.toolMs);
    return new PausableTimeout(clock, ms, () =>
      scope.abort({ reason: 'timeout', message: `Stopped after its time limit of ${ms / 1000} s.` }),
    );
  }

  async #execute(
    snapshot: Snapshot,
    { call, tool }: { call: Call; tool: Tool | undefined },
    at: ExecutionResources & { at: RunContext; workspace: Workspace; place: TaskWithEarlierTasks },
  ): Promise<ExecutionResult> {
    const { principal } = snapshot;
    const { clock } = this.#options;
    const { output, questions, start } = at;
    let failure: unknown;
    let todos: readonly Todo[] | undefined;
    let contents: readonly FileBytes[] = [];
    const whole: ToolOutcome =
      tool === undefined
        ? { type: 'error', message: this.#options.toolbox.absence(call.tool) }
        : await runToolToOutcome(
            () =>
              recheckPolicyAndRun({ tool, task: snapshot, call }, this.#options.policy(), {
                principal,
                workspace: at.workspace,
                signal: at.scope.signal,
                toolId: at.reference.toolId,
                // No person saw a tool call that the policy allowed. Such a call has no content to compare.
                basis: call.decided === null ? null : call.basis,
                output: (text, progress) => output.write(text, progress),
                plan: (planned) => (todos = planned),
                ask: (question, options) => questions.ask(question, options),
                stopCause: () => at.scope.reason,
                requireClaim: () => at.at.log.requireClaim(snapshot.taskId),
                answeredLate: (text) => void output.addLate(text),
                asked: { call, place: at.place },
              }).then(
                (result) => {
                  const stored = separateFileContents(result);
                  contents = stored.contents;
                  return stored.success;
                },
                (error: unknown) => {
                  failure = error;
                  throw error;
                },
              ),
            {
              scope: at.scope,
              clock,
              graceMs: tool.graceMs ?? this.#options.graceMs,
              soFar: () => output.soFar,
              onUnconfirmed: (why) => {
                const running = this.#running.get(at.reference.toolId);
                if (running !== undefined) running.unconfirmed = why;
              },
            },
          );
    at.timeout?.cancel();
    await output.close();
    if (!start.recorded) {
      // The tool has not started, so the next server can run the tool call.
      if (whole.type === 'stopped' && whole.reason === 'server-shutdown') return NOT_RUN;
      if (
        tool &&
        hasInputChanged(failure) &&
        (await this.#askAgainIfOutdated(snapshot, { call, tool }, at.at))
      )
        return { outcome: null, end: 'asked-again' };
    }
    const outcome = await output.shortened(whole, tool?.maxResultChars);
    const event: TaskEvent = runsAgain(call, outcome)
      ? { type: 'tool.interrupted', ...at.reference, rerun: true }
      : { type: 'tool.finished', ...at.reference, outcome };
    const kept = outcome.type === 'ok' ? contents : [];
    const end = (s: Snapshot): readonly TaskEvent[] => {
      // E2: after a shutdown, an open question still waits. The next process records the tool's end, as after a crash.
      const asked = waitingQuestionCalls(s, call.callId);
      if (asked.length > 0 && outcome.type === 'stopped' && outcome.reason === 'server-shutdown') return [];
      const planned: TaskEvent[] =
        todos === undefined || outcome.type !== 'ok'
          ? []
          : [{ type: 'todos.updated', callId: call.callId, todos }];
      return withTaskState(s, ...start.opening(s), ...asked.map(questionWithdrawn), ...planned, event);
    };
    const record = (): Promise<boolean> => start.append(end, kept);
    // If the start is not recorded, the next execution runs the tool call again.
    const finished = await (start.recorded
      ? appendOutcome(record, {
          clock,
          signal: at.scope.signal,
          onFailure: (error) => this.#options.onFailure(snapshot.taskId, error),
        })
      : record());
    return finished ? { outcome, end: 'ran' } : start.recorded ? { outcome: null, end: 'ran' } : NOT_RUN;
  }
}

/** True if the tool failed because a file has changed since the person saw it (D2). */
function hasInputChanged(failure: unknown): boolean {
  return failure instanceof ProductError && failure.reason === 'INPUT_CHANGED';
}

function shorterLimit(ms: number, limitMs: number | null): number {
  return limitMs === null ? ms : Math.min(ms, limitMs);
}

/**
 * True if the next process runs the tool call again, because the shutdown stopped it and a repeat is safe. E2: a call
 * with side effects starts at most once.
 */
function runsAgain(call: Call, outcome: ToolOutcome): boolean {
  return isRepeatableCall(call) && outcome.type === 'stopped' && outcome.reason === 'server-shutdown';
}

function onRequest(reason: string): AbortCause {
  return { reason: 'abort-request', message: `Aborted on request: ${reason}` };
}
