/** Restores files by a command of the agent, so that the restoration is a task like any other. */
import type { A2aClient, PendingAction, TaskReport } from '../../../../shared/client/index.ts';

interface RestoreRequest {
  sessionId: string;
  workspace: string;
  checkpoint: string;
  /** True to undo all later turns too. */
  since: boolean;
  /** The diff that the person confirmed. */
  diff: string;
}

/**
 * Starts the restoration, and approves it if the server asks about exactly the confirmed diff. D2: a decision binds to
 * what was shown. So any other question waits for the person.
 * @returns the id of the new task
 * @throws ClientError
 */
export function restoreFiles(
  client: A2aClient,
  { sessionId, workspace, checkpoint, since, diff }: RestoreRequest,
): Promise<string> {
  const command = since ? 'checkpoint restore-since' : 'checkpoint restore';
  return new Promise((resolve, reject) => {
    const finish = (taskId: string): void => {
      resolve(taskId);
      execution.detach();
    };
    const execution = client.startCommand(
      { command, args: [checkpoint], sessionId, workspace },
      {
        onProgress: (progress) => {
          if (progress.type !== 'state') return;
          const { taskId, state } = progress.report;
          if (taskId === null || state === 'working') return;
          const question = findConfirmedQuestion(progress.report, diff);
          if (question === undefined) return finish(taskId);
          const { callId, shown } = question;
          // If the decision fails, the question still waits in the new task.
          execution.decide({ callId, shown, decision: 'approve' }).then(
            () => finish(taskId),
            () => finish(taskId),
          );
        },
      },
    );
    execution.result.catch(reject);
  });
}

/**
 * Returns the pending action if it is the only one and shows exactly the diff that the person confirmed. The person
 * must be allowed to approve the action without a passkey. Otherwise returns undefined.
 */
export function findConfirmedQuestion(
  { pending }: Pick<TaskReport, 'pending'>,
  diff: string,
): PendingAction | undefined {
  const [question, other] = pending;
  if (question === undefined || other !== undefined || question.presence === true) return undefined;
  if (!question.decisions.includes('approve')) return undefined;
  const { preview, reason } = question;
  return reason === 'approval' && preview.type === 'diff' && preview.diff === diff ? question : undefined;
}
