/**
 * Lists and aborts the tool executions of other servers that use the same journal. This server finds them in the
 * journal. It requests an abort with an event. The server that runs the tool sees the event within a second.
 */
import { AbortScope } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { visibleTasksFilter, type Requester } from '../access/requester.ts';
import type { Journal } from '../journal/journal.ts';
import type { TaskEvent } from '../task/events.ts';
import { type AbortRequest, requestToolAbort } from '../task/request-tool-abort.ts';
import { runningCalls, type Snapshot } from '../task/snapshot.ts';
import { lastLineOf } from '../task/tool-outputs.ts';
import { abortRequestOutcome, type AbortRequestOutcome } from './tool-executions/abort-request-outcome.ts';
import { followTaskJournal } from './queries/follow-task-journal.ts';
import type { TaskJournal } from './task-journal/task-journal.ts';
import { toolExecutionView, type ToolExecutionView } from './tool-executions/tool-execution-view.ts';

/**
 * The longest wait for the other server, in milliseconds. If that server was killed, another one claims its tasks
 * within 5 s, and records that the tool execution was interrupted.
 */
const ABORT_WITHIN_MS = 30_000;

/** The maximum number of tasks that a list of tool executions reads. */
const MAX_TASKS = 500;

interface RemoteOptions {
  journal: Journal;
  taskJournal: TaskJournal;
  clock: Clock;
}

/** Returns the running tool executions that the requester may see, except those whose id is in `known`. */
export async function toolExecutionsOfOtherServers(
  requester: Requester,
  known: ReadonlySet<string>,
  { journal, taskJournal, clock }: RemoteOptions,
): Promise<ToolExecutionView[]> {
  if (!journal.ownership.shared) return [];
  const now = clock.now();
  // The list also needs waiting tasks, because a task waits for input while its tool asks the person a question.
  const { rows } = await journal.list(
    { ...visibleTasksFilter(requester), states: ['working', 'input-required'] },
    { size: MAX_TASKS },
  );
  const views: ToolExecutionView[] = [];
  for (const { taskId, sessionId } of rows) {
    const snapshot = await taskJournal.loadIfReadable(taskId);
    if (snapshot === undefined) continue;
    for (const { callId, tool, title, state } of runningCalls(snapshot)) {
      const { toolId, startedAt } = state;
      if (known.has(toolId)) continue;
      const output = snapshot.outputs.findLast((it) => it.toolId === toolId);
      const progress = lastLineOf(output?.text ?? '');
      views.push(
        toolExecutionView({ toolId, tool, title, taskId, sessionId, callId, startedAt, progress }, now),
      );
    }
  }
  return views;
}

/**
 * Asks for the abort of a tool execution that this server does not run, and waits for its end. A second request changes
 * nothing, and also waits for the end.
 * @throws ProductError STORAGE
 */
export async function abortRemotely(
  request: AbortRequest,
  { journal, taskJournal, clock }: RemoteOptions,
): Promise<AbortRequestOutcome> {
  const { toolId } = request;
  const begun = await journal.toolExecution(toolId);
  if (begun === undefined) return { type: 'unknown' };
  const { taskId } = begun;
  if (!journal.ownership.shared) return outcomeOfEnded(await taskJournal.load(taskId), toolId);
  const changed = await taskJournal.change(taskId, (snapshot) => requestToolAbort(snapshot, request));
  if (changed?.type !== 'appended' && changed?.type !== 'kept') return { type: 'unknown' };
  const first = changed.type === 'appended';
  const runs = runningCalls(changed.snapshot).some(({ state }) => state.toolId === toolId);
  if (!first && !runs) return outcomeOfEnded(changed.snapshot, toolId);
  const reading = new AbortScope<'time-limit'>();
  const cancelTimer = clock.after(ABORT_WITHIN_MS, () => reading.abort('time-limit'));
  try {
    const how = { until: 'ended', signal: reading.signal } as const;
    for await (const entries of followTaskJournal(journal, { taskId, after: changed.snapshot.seq }, how))
      for (const { event } of entries) {
        const end = endOf(event, toolId, first);
        if (end !== undefined) return end;
      }
    return { type: reading.signal.aborted ? 'pending' : 'task-ended' };
  } finally {
    cancelTimer();
    reading.close();
  }
}

/** Returns the outcome of an abort request for a tool execution that does not run. */
function outcomeOfEnded(task: Snapshot | undefined, toolId: string): AbortRequestOutcome {
  for (const { state } of Object.values(task?.calls ?? {})) {
    if (state.type !== 'settled' || state.result.type !== 'ran' || state.result.toolId !== toolId) continue;
    const { outcome } = state.result;
    if (outcome.type === 'stopped' && outcome.reason === 'abort-request')
      return abortRequestOutcome(outcome, { first: false });
  }
  return { type: 'already-finished' };
}

/**
 * Returns the outcome of the abort request if this event ends the tool execution. Otherwise returns undefined.
 * @param first true if no other request asked for the abort before
 */
function endOf(event: TaskEvent, toolId: string, first: boolean): AbortRequestOutcome | undefined {
  if (event.type === 'tool.interrupted' && event.toolId === toolId) return { type: 'lost' };
  if (event.type !== 'tool.finished' || event.toolId !== toolId) return undefined;
  const { outcome } = event;
  return abortRequestOutcome(outcome, {
    first: first && outcome.type === 'stopped' && outcome.reason === 'abort-request',
  });
}
