/** Builds the row of a task in the page's task list from its snapshot. Pure. */
import { type DemandedApprover, approverInsteadOfReader } from '../../shared/protocol/demanded-approver.ts';
import { notDoneText } from '../../shared/protocol/not-done-text.ts';
import type { GroupedTask, WaitingFor } from '../../shared/protocol/task-groups.ts';
import { ellipsize } from '../../shared/text/shortened-text.ts';
import {
  actionForReader,
  hasDecidingRole,
  type OfferedDecisions,
  type TaskReader,
} from '../http/wire/reader-decisions.ts';
import { callStateInOverview, usageOf } from '../http/wire/task-projection.ts';
import { pendingActions } from '../task/pending.ts';
import type { Call, Snapshot, StateName, Turn } from '../task/snapshot.ts';

/**
 * The part of a task's row that is the same for every reader, so the server can cache it. The title and the cost of the
 * session are not in it, because they come from the index.
 */
export type TaskSummary = Omit<GroupedTask, 'title' | 'cost'> & {
  usage: GroupedTask['cost']['task'];
  /**
   * Who may decide each pending action. (`waitingFor` names only the first actions.) It contains no previews, because a
   * preview may be large, and the server keeps thousands of summaries in memory.
   */
  pending: readonly OfferedDecisions[];
};

const STATES: Readonly<Record<StateName, GroupedTask['state']>> = {
  submitted: 'working',
  working: 'working',
  'input-required': 'waiting',
  'auth-required': 'waiting',
  completed: 'completed',
  canceled: 'canceled',
  failed: 'failed',
  rejected: 'rejected',
};

/** The maximum number of pending actions that a row names. */
const MAX_ACTIONS = 5;
const MAX_LINE_CHARS = 200;

export function summarizeTask(snapshot: Snapshot): TaskSummary {
  const { taskId, sessionId, status, settings } = snapshot;
  const waitingFor = waitingForOf(snapshot);
  // After the last decision, no tool call waits. The snapshot keeps its waiting state until the task's next event.
  const state = STATES[status.state] === 'waiting' && waitingFor === null ? 'working' : STATES[status.state];
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, usd = null } = usageOf(snapshot);
  const calls = Object.values(snapshot.calls).map((call) => ({
    ...call,
    state: callStateInOverview(snapshot, call),
  }));
  return {
    taskId,
    sessionId,
    state,
    createdAt: new Date(snapshot.createdAt).toISOString(),
    updatedAt: new Date(snapshot.updatedAt).toISOString(),
    workspace: settings.workspace ?? null,
    model: newestTurn(snapshot)?.model ?? null,
    usage: { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, usd },
    notDone: notDoneText(state, calls),
    pending: waitingFor?.type === 'actions' ? pendingActions(snapshot).map(offeredDecisions) : [],
    waitingFor,
    waitingSince: 'since' in status && waitingFor !== null ? new Date(status.since).toISOString() : null,
    activity: activityOf(snapshot),
  };
}

/** Returns how many pending actions this reader may decide. Returns 1 for a task that waits for a reply. */
export function countDecidableActions(
  { waitingFor, pending }: Pick<TaskSummary, 'waitingFor' | 'pending'>,
  reader: TaskReader,
): number {
  if (waitingFor === null) return 0;
  if (waitingFor.type !== 'actions') return 1;
  return pending.filter((action) => otherApproverFor(action, reader) === undefined).length;
}

/**
 * Estimates the number of actions of waiting tasks whose snapshots are not read: one for each task. Returns 0 if the
 * reader may decide nothing.
 */
export function countUnreadActions(tasks: number, reader: TaskReader): number {
  return hasDecidingRole(reader) ? tasks : 0;
}

/** Returns what the task waits for. If only another person may decide all of its actions, says who. */
export function waitingForShownTo(
  { waitingFor, pending }: Pick<TaskSummary, 'waitingFor' | 'pending'>,
  reader: TaskReader,
): WaitingFor | null {
  if (waitingFor?.type !== 'actions') return waitingFor;
  const others = pending.map((action) => otherApproverFor(action, reader));
  const [approver] = others;
  return approver === undefined || others.includes(undefined) ? waitingFor : { ...waitingFor, approver };
}

function offeredDecisions({ approver, decisions }: OfferedDecisions): OfferedDecisions {
  return { ...(approver && { approver }), decisions };
}

function otherApproverFor(action: OfferedDecisions, reader: TaskReader): DemandedApprover | undefined {
  return approverInsteadOfReader(actionForReader(action, reader));
}

function waitingForOf(snapshot: Snapshot): WaitingFor | null {
  const { status } = snapshot;
  if (status.state === 'auth-required') return { type: 'sign-in', text: lastLine(status.question) };
  if (status.state !== 'input-required') return null;
  if (status.pending.length === 0) return { type: 'reply', text: lastLine(status.question ?? '') };
  const pending = pendingActions(snapshot);
  if (pending.length === 0) return null;
  const first = pending.slice(0, MAX_ACTIONS).map(({ callId, tool, title, shown, sideEffect, reason }) => ({
    callId,
    tool,
    title: ellipsize(title, MAX_LINE_CHARS),
    shown,
    sideEffect,
    reason,
  }));
  return { type: 'actions', count: pending.length, first };
}

/**
 * Returns one line about the task: the reason why it ended, or its newest known activity. A running tool call comes
 * first. Then come the text of the turn and the server's note, the newer of the two first. The last call comes last.
 */
function activityOf(snapshot: Snapshot): string {
  const { status, outputs, openTurn } = snapshot;
  if ('message' in status && status.message !== undefined) return firstLine(status.message);
  if (status.state === 'canceled') return firstLine(status.reason);
  const calls = Object.values(snapshot.calls);
  const running = calls.findLast(({ state }) => state.type === 'running');
  if (running !== undefined) {
    const output = outputs.findLast(({ toolId }) => toolId === running.toolId);
    const line = lastLine(output?.text ?? '');
    return ellipsize(line === '' ? running.title : `${running.title}: ${line}`, MAX_LINE_CHARS);
  }
  const note = status.state === 'working' ? (status.note ?? '') : '';
  const words = lastLine((openTurn ?? newestTurn(snapshot))?.text ?? '');
  const lastCall: Call | undefined = calls.at(-1);
  const facts = openTurn === null ? [note, words] : [words, note];
  return [...facts, lastLine(lastCall?.title ?? '')].find((fact) => fact !== '') ?? '';
}

function newestTurn({ openTurn, exchanges }: Snapshot): Turn | undefined {
  if (openTurn !== null) return openTurn;
  return exchanges.flatMap((exchange) => (exchange.type === 'turn' ? [exchange.turn] : [])).at(-1);
}

/**
 * Returns the first line with text. In a message about the end of a task, this line has the reason. Advice follows it.
 */
function firstLine(text: string): string {
  return ellipsize(
    text
      .trim()
      .slice(0, 4 * MAX_LINE_CHARS)
      .split(/[\r\n]+/u, 1)[0] ?? '',
    MAX_LINE_CHARS,
  );
}

/** Returns the last line with text. Looks only at the end of a long text. */
function lastLine(text: string): string {
  const lines = text.slice(-4 * MAX_LINE_CHARS).split(/[\r\n]+/u);
  return ellipsize(lines.findLast((line) => line.trim() !== '')?.trim() ?? '', MAX_LINE_CHARS);
}
