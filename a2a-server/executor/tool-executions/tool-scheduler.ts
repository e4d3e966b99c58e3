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
import type { TaskEvent, ToolExecutionReference, ToolOutcome } from '../../task/events.ts';
import type { AbortRequest } from '../../task/request-tool-abort.ts';
import { withTaskState, thenParkOrContinue, questionWithdrawn } from '../../task/pending.ts';
import {
  isRepeatableCall,
  isTerminal,
  waitingQuestionCalls,
  type Call,
  type Snapshot,
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
import { toolExecutionView, type ToolExecutionView } from './tool-execution-view.ts';
import type { TimeLimits } from '../abort-scopes/time-limits.ts';
import { runToolToOutcome } from './run-tool-to-outcome.ts';
import { mayBecomeOutdated, outdatedEvent } from '../../tools/shown-content.ts';
import { recheckPolicyAndRun } from './run-tool-under-policy.ts';
import { separateFileContents } from './separate-file-contents.ts';
import type { DeferredCommandAppend } from '../task-journal/deferred-command-append.ts';
import { ToolStartRecorder } from './tool-start-recorder.ts';
import { ToolOutput } from './tool-output.ts';
import { ToolQuestions } from './tool-questions.ts';

export interface RunningToolExecution extends ToolExecutionReference {
  /** The `TaskJournal` of the task's execution. */
  taskJournal: TaskJournal;
  taskId: string;
  sessionId: string;
  principal: string;
  startedAt: number;
  output: ToolOutput;
  questions: ToolQuestions;
  scope: AbortScope<AbortCause>;
  /** Resolves with the recorded outcome, or with null if the journal has no outcome. */
  settled: Promise<ToolOutcome | null>;
  unconfirmed?: string;
}

interface RunContext {
  /** The `TaskJournal` of the execution. It refuses changes after the execution has lost its claim. */
  taskJournal: TaskJournal;
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
  at: RunContext;
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

/** The end of a tool, before the journal has it. */
interface ToolEnd {
  outcome: ToolOutcome;
  /** The to-do list that the tool set. */
  todos?: readonly Todo[] | undefined;
  /** The contents of files in the result. */
  contents?: readonly FileBytes[];
  /** True if the tool failed because a file has changed since the person saw it (D2). */
  isInputChanged?: boolean;
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

  /** Returns the principal whose task has this tool execution. Undefined if this server does not run the tool. */
  ownerOf(toolId: string): string | undefined {
    return this.#running.get(toolId)?.principal;
  }

  /** Returns the tool executions that the requester may see. */
  of(requester: Requester): ToolExecutionView[] {
    const now = this.#options.clock.now();
    return this.running
      .filter((execution) => maySeeTasksOf(requester, execution.principal))
      .map((execution) => toolExecutionView({ ...execution, progress: execution.output.lastLine }, now));
  }

  /** Runs one ready tool call in a child of the turn's scope. Resolves when the journal has the outcome. */
  async run(snapshot: Snapshot, call: Call, at: RunContext): Promise<RunEnd> {
    const { journal, ids, clock } = this.#options;
    const { taskJournal } = at;
    const { taskId } = snapshot;
    const tool = this.#options.toolbox.get(call.tool);
    if (tool && (await this.#askAgainIfOutdated(snapshot, { call, tool }, at))) return 'asked-again';
    // True if the start of the tool is recorded together with its first change of a file. Directly before that change,
    // the tool compares the basis (a hash of the previewed content) again.
    const late = tool?.startsWithFirstChange === true;
    const toolId = ids.toolExecution(call.tool);
    const scope = at.scope.child();
    const reference = { callId: call.callId, tool: call.tool, title: call.title, toolId };
    const { inputHash } = call;
    const start = new ToolStartRecorder(taskJournal, taskId, { reference, inputHash, command: at.command });
    if (!late && !(await start.record())) {
      scope.close();
      return 'not-run';
    }
    const output = new ToolOutput(taskJournal, taskId, reference);
    const timeout = tool && this.#createTimeout(tool, call, scope);
    const timeouts = [...at.timeouts, ...(timeout ? [timeout] : [])];
    const questions = new ToolQuestions({ taskJournal, journal, taskId, call, toolId, scope, timeouts });
    const resources = { at, scope, reference, start, output, questions, timeout };
    const executed = this.#execute(snapshot, { call, tool }, resources);
    const execution: RunningToolExecution = {
      ...reference,
      taskJournal,
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
    for (const { taskJournal, taskId, callId, toolId, scope } of this.running) {
      const state = (await taskJournal.load(taskId))?.calls[callId]?.state;
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
    { taskJournal, workspace, scope, command }: RunContext,
  ): Promise<boolean> {
    if (call.decided === null || !mayBecomeOutdated(call)) return false;
    const shown = await tool
      .show(call.input, { principal, workspace, signal: scope.signal })
      .catch(() => undefined);
    // If the new preview fails, the person is not asked again. The call then fails when it runs.
    const event = shown && outdatedEvent(call, shown);
    if (event === undefined) return false;
    await command?.settle();
    await taskJournal.change(taskId, (s) => {
      if (s.calls[call.callId]?.state.type !== 'ready' || isTerminal(s)) return [];
      return thenParkOrContinue(s, [event]);
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
    resources: ExecutionResources,
  ): Promise<ExecutionResult> {
    const { clock, toolbox, onFailure } = this.#options;
    const { at, scope, reference, start, output, timeout } = resources;
    const end: ToolEnd = tool
      ? await this.#runTool(snapshot, { call, tool }, resources)
      : { outcome: { type: 'error', message: toolbox.absence(call.tool) } };
    timeout?.cancel();
    await output.close();
    if (!start.recorded) {
      // The tool has not started, so the next server can run the tool call.
      if (isStoppedByShutdown(end.outcome)) return NOT_RUN;
      if (tool && end.isInputChanged && (await this.#askAgainIfOutdated(snapshot, { call, tool }, at)))
        return { outcome: null, end: 'asked-again' };
    }
    const outcome = await output.shortened(end.outcome, tool?.maxResultChars);
    const { todos, contents } = outcome.type === 'ok' ? end : {};
    const endEvents = (s: Snapshot): readonly TaskEvent[] => {
      // E2: after a shutdown, an open question of the tool still waits for the person. So nothing is recorded here.
      // The next process records the tool's end, as after a crash.
      const asked = waitingQuestionCalls(s, call.callId);
      if (asked.length > 0 && isStoppedByShutdown(outcome)) return [];
      return withTaskState(
        s,
        ...start.opening(s),
        ...asked.map(questionWithdrawn),
        ...(todos ? [{ type: 'todos.updated' as const, callId: call.callId, todos }] : []),
        // If the shutdown stopped a call that is safe to repeat, the next process runs it again. E2: any other call
        // ends here, because a call with side effects starts at most once.
        isRepeatableCall(call) && isStoppedByShutdown(outcome)
          ? { type: 'tool.interrupted', ...reference, rerun: true }
          : { type: 'tool.finished', ...reference, outcome },
      );
    };
    const record = (): Promise<boolean> => start.append(endEvents, contents ?? []);
    // If the start is not recorded, the next execution runs the tool call again.
    const finished = await (start.recorded
      ? appendOutcome(record, {
          clock,
          signal: scope.signal,
          onFailure: (error) => onFailure(snapshot.taskId, error),
        })
      : record());
    return finished ? { outcome, end: 'ran' } : start.recorded ? { outcome: null, end: 'ran' } : NOT_RUN;
  }

  /** Runs the tool until it ends or is stopped. Never rejects. */
  async #runTool(
    snapshot: Snapshot,
    { call, tool }: { call: Call; tool: Tool },
    { at, scope, reference: { toolId }, start, output, questions }: ExecutionResources,
  ): Promise<ToolEnd> {
    const { clock, policy, graceMs } = this.#options;
    const workspace = createCheckpointingWorkspace(at.workspace, (files, contents) =>
      start.require(files, contents),
    );
    const end: Omit<ToolEnd, 'outcome'> = {};
    const run: Parameters<typeof runToolToOutcome>[0] = async () => {
      try {
        const result = await recheckPolicyAndRun({ tool, task: snapshot, call }, policy(), {
          principal: snapshot.principal,
          workspace,
          signal: scope.signal,
          toolId,
          // If the policy allowed the call, no person saw its preview. So there is no shown content to compare.
          basis: call.decided === null ? null : call.basis,
          output: (text, progress) => output.write(text, progress),
          plan: (todos) => (end.todos = todos),
          ask: (question, options) => questions.ask(question, options),
          stopCause: () => scope.reason,
          requireClaim: () => at.taskJournal.requireClaim(snapshot.taskId),
          answeredLate: (text) => void output.addLate(text),
          asked: { call, place: { task: snapshot, earlier: at.earlier, workspace: at.workspace.root } },
        });
        const { success, contents } = separateFileContents(result);
        end.contents = contents;
        return success;
      } catch (error) {
        end.isInputChanged = error instanceof ProductError && error.reason === 'INPUT_CHANGED';
        throw error;
      }
    };
    const outcome = await runToolToOutcome(run, {
      scope,
      clock,
      graceMs: tool.graceMs ?? graceMs,
      soFar: () => output.soFar,
      onUnconfirmed: (why) => {
        const running = this.#running.get(toolId);
        if (running !== undefined) running.unconfirmed = why;
      },
    });
    return { ...end, outcome };
  }
}

function shorterLimit(ms: number, limitMs: number | null): number {
  return limitMs === null ? ms : Math.min(ms, limitMs);
}

function isStoppedByShutdown(outcome: ToolOutcome): boolean {
  return outcome.type === 'stopped' && outcome.reason === 'server-shutdown';
}

function onRequest(reason: string): AbortCause {
  return { reason: 'abort-request', message: `Aborted on request: ${reason}` };
}
