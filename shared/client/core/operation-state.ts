/** The state of one operation (a task that a user interface shows) as an immutable value. */
import type { ToolCallEvent } from '../../protocol/tool-approval.ts';
import { ClientError } from './client-error.ts';
import type { Progress } from './progress.ts';
import { hasEnded } from './task-report.ts';
import type { PendingAction, TaskReport } from './task-report.ts';

interface OperationFacts {
  /** An id that is unique until the page unloads. */
  readonly id: string;
  /** The text of the request. */
  readonly title: string;
  /** The latest step of the task in a few words. '' before the first step. */
  readonly progress: string;
  readonly output: string;
}

export type Operation =
  | (OperationFacts & { readonly state: 'starting' })
  | (OperationFacts & { readonly state: 'running'; readonly report: TaskReport })
  /** The agent does not have the task yet. `reason` names the cause and the time of the next attempt. */
  | (OperationFacts & {
      readonly state: 'not-delivered';
      readonly report: TaskReport;
      readonly reason: string;
    })
  /** The task waits until a person decides the pending actions or answers the question. */
  | (OperationFacts & {
      readonly state: 'waiting';
      readonly report: TaskReport;
      readonly pending: readonly PendingAction[];
      readonly question: string | null;
    })
  | (OperationFacts & { readonly state: 'completed'; readonly report: TaskReport })
  | (OperationFacts & {
      readonly state: 'canceled';
      readonly report: TaskReport | null;
      readonly reason: string;
    })
  /** The agent refused the task. */
  | (OperationFacts & { readonly state: 'rejected'; readonly report: TaskReport; readonly reason: string })
  /**
   * The task failed, or its execution rejected with `error`. After such an error, the task may still run. `error` is
   * null if the agent reported the failure.
   */
  | (OperationFacts & {
      readonly state: 'failed';
      readonly report: TaskReport | null;
      readonly error: unknown;
      readonly reason: string;
    });

export function startingOperation(id: string, title: string): Operation {
  return { id, title, progress: '', output: '', state: 'starting' };
}

export function operationAfterProgress(before: Operation, progress: Progress): Operation {
  switch (progress.type) {
    case 'text':
      return { ...before, output: before.output + progress.text };
    case 'note':
      return { ...before, progress: progress.message };
    case 'reconnecting':
      return { ...before, progress: 'The connection was lost. Reconnecting.' };
    case 'reconnected':
      return { ...before, progress: '' };
    case 'activity': {
      const line = toolActivityText(progress.activity);
      return line === '' ? before : { ...before, progress: line };
    }
    case 'state':
      return operationAfterReport(before, progress.report);
  }
}

export function operationAfterReport({ id, title, progress }: Operation, report: TaskReport): Operation {
  const seen = { id, title, progress, output: report.output };
  const { state, message, pending, question } = report;
  switch (state) {
    case 'working':
      return { ...seen, state: 'running', report };
    case 'waiting':
      return { ...seen, state, report, pending, question };
    case 'completed':
      return { ...seen, state, report };
    case 'not-delivered':
    case 'rejected':
    case 'canceled':
      return { ...seen, state, report, reason: message };
    case 'failed':
      return { ...seen, state, report, error: null, reason: message };
  }
}

/** Returns the operation after its execution rejected with this error. */
export function operationAfterError(before: Operation, error: unknown): Operation {
  const { id, title, progress, output } = before;
  const report = 'report' in before ? before.report : null;
  const seen = {
    id,
    title,
    progress,
    output,
    report,
    reason: error instanceof Error ? error.message : String(error),
  };
  return error instanceof ClientError && error.code === 'aborted'
    ? { ...seen, state: 'canceled' }
    : { ...seen, state: 'failed', error };
}

export function isOperationOver({ state }: Operation): boolean {
  return state !== 'starting' && state !== 'running' && hasEnded({ state });
}

/**
 * Describes a step of a tool call in a few words. For tool output, returns the last line of the output, which may be
 * empty.
 */
export function toolActivityText(activity: ToolCallEvent): string {
  const { tool, title } = activity;
  switch (activity.type) {
    case 'tool.requested':
      if (activity.question) return `waits for an answer: ${title}`;
      return activity.asks ? `waits for approval: ${title}` : `next: ${title}`;
    case 'tool.decided':
      return `${title}: ${activity.decision}`;
    case 'tool.started':
      return `${tool} runs: ${title}`;
    case 'tool.output':
      return activity.text.trimEnd().split('\n').at(-1) ?? '';
    case 'tool.finished':
      return `${tool}: ${activity.outcome}`;
  }
}
