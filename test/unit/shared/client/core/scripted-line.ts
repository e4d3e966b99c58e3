/** A task line that plays a script of the test. */
import { ClientError } from '../../../../../shared/client/core/client-error.ts';
import { Deferred } from '../../../../../shared/runtime/deferred.ts';
import type { OnProgress } from '../../../../../shared/client/core/progress.ts';
import type { TaskTransport } from '../../../../../shared/client/core/task-transport.ts';
import type { TaskReport } from '../../../../../shared/client/core/task-report.ts';
import type { Decision, GrantsToRevoke } from '../../../../../shared/client/core/task-request.ts';

export function reportIn(state: TaskReport['state'], rest: Partial<TaskReport> = {}): TaskReport {
  return {
    sessionId: 'session-1',
    taskId: 'task-1',
    state,
    message: '',
    output: '',
    notDone: '',
    pending: [],
    question: null,
    tools: [],
    cursor: 1,
    ...rest,
  };
}

export class ScriptedLine implements TaskTransport {
  report: TaskReport | undefined;
  /** The reasons of all cancel requests. */
  readonly cancels: string[] = [];
  readonly leavings: string[] = [];
  readonly decided: Decision[] = [];
  readonly revoked: GrantsToRevoke[] = [];
  readonly said: string[] = [];
  readonly end = new Deferred<TaskReport>();
  readonly began = new Deferred<OnProgress>();
  /** If set, a cancel fails with this error. Otherwise the cancel ends the task. */
  cancelFails: Error | undefined;

  async follow(tell: OnProgress, reading: AbortSignal): Promise<TaskReport> {
    this.began.resolve(tell);
    reading.addEventListener('abort', () => this.end.reject(new ClientError('unreachable', 'cut')));
    return this.end.promise;
  }

  cancel(reason: string): Promise<void> {
    this.cancels.push(reason);
    if (this.cancelFails !== undefined) return Promise.reject(this.cancelFails);
    this.end.resolve(reportIn('canceled', { message: reason }));
    return Promise.resolve();
  }

  cancelLeaving(reason: string): void {
    this.leavings.push(reason);
  }

  decide(decisions: readonly Decision[]): Promise<void> {
    this.decided.push(...decisions);
    return Promise.resolve();
  }

  revoke(grants: GrantsToRevoke): Promise<void> {
    this.revoked.push(grants);
    return Promise.resolve();
  }

  say(text: string): Promise<void> {
    this.said.push(text);
    return Promise.resolve();
  }
}
